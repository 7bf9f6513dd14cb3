// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/node_use.h"

#include "common/json.h"

namespace bridge {

namespace {

constexpr char format_key[] = "slurmk8s"; // as in job.cc
constexpr char node_key[] = "shadow";
constexpr int format = 1;

} // namespace

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
