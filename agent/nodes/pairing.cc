// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/pairing.h"

#include "agent/nodes/words.h"

#include <tuple>
#include <utility>

namespace bridge {

namespace {

void claim(NodeClaims &claims, const std::string &name, const Node &node,
           const NodeMap &before)
{
    auto [holder, first] = claims.nodes.emplace(name, &node);
    if (first)
        return;
    auto rank = [&](const Node &one) {
        auto held = before.find(name);
        bool had = held != before.end() && held->second == one.name;
        return std::tuple(!had, one.created, one.name);
    };
    const Node *loser = &node;
    if (rank(node) < rank(*holder->second))
        std::swap(loser, holder->second);
    claims.refused[loser->name] = "Node " + holder->second->name +
                                  " already stands for Slurm node " + name;
}

} // namespace

NodeClaims claims_of(const std::vector<NodePtr> &nodes, const NodeMap &before)
{
    NodeClaims claims;
    for (const NodePtr &node : nodes) {
        if (!is_opted_in(*node))
            continue;
        std::string name = slurm_name(*node);
        if (!is_plain_word(name)) {
            claims.refused[node->name] =
                "its name is not a valid Slurm node name";
        } else if (!node->unfit_reason.empty()) {
            claims.left_alone.insert(name);
            claims.refused[node->name] = node->unfit_reason;
        } else {
            claim(claims, name, *node, before);
        }
    }
    return claims;
}

} // namespace bridge
