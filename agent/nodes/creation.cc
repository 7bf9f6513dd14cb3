// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/creation.h"

#include "agent/nodes/words.h"

namespace bridge {

namespace {

// All features with this prefix are the agent's (features.h). No partition uses
// this one.
constexpr char new_node[] = "k8s_new";

} // namespace

void add_creation(std::vector<NodeStep> &steps, const NodeDescription &wish,
                  const std::string &down_reason)
{
    bool later = !wish.gres.empty() || !down_reason.empty();
    NodeDescription made = wish;
    if (later)
        made.features = new_node;
    steps.push_back(CreateNode{made});
    if (!down_reason.empty())
        steps.push_back(DownNode{wish.name, down_reason});
    if (!wish.extra.empty())
        steps.push_back(SetExtra{wish.name, wish.extra});
    if (later)
        steps.push_back(SetFeatures{wish.name, wish.features, wish.features});
}

bool is_new(const SlurmNode &known)
{
    return known.external && has_word(known.features, new_node);
}

bool is_new(const NodeDescription &made)
{
    return made.features == new_node;
}

} // namespace bridge
