// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/node_use.h"

#include "common/base/json.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr char format_key[] = "slurmk8s"; // as in job.cc
constexpr char node_key[] = "shadow";
constexpr int format = 1;

} // namespace

NodeRoom &NodeRoom::operator+=(const NodeRoom &more)
{
    cpus += more.cpus;
    memory.value += more.memory.value;
    for (const auto &[kind, count] : more.gres)
        gres[kind] += count;
    return *this;
}

NodeRoom NodeRoom::rest(const NodeRoom &all, const NodeRoom &part)
{
    auto more = [](auto has, auto less) { return has - std::min(has, less); };
    NodeRoom left{more(all.cpus, part.cpus),
                  MebiBytes{more(all.memory.value, part.memory.value)}};
    for (const auto &[kind, count] : all.gres) {
        auto there = part.gres.find(kind);
        auto lacks = more(count, there == part.gres.end() ? 0 : there->second);
        if (lacks != 0)
            left.gres[kind] = lacks;
    }
    return left;
}

std::string encode_shadow(const std::string &node)
{
    return JsonValue::object({{format_key, format}, {node_key, node}}).dump();
}

std::optional<std::string> decode_shadow(const std::string &admin_comment)
{
    if (!admin_comment.starts_with('{'))
        return std::nullopt;
    auto json = Json::parse(admin_comment);
    if (!json || json->integer(format_key) != format ||
        json->text(node_key).empty())
        return std::nullopt;
    return json->text(node_key);
}

} // namespace bridge
