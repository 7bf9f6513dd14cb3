// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/hook_message.h"

#include "common/base/json.h"

#include <algorithm>
#include <array>
#include <limits>

namespace bridge {

namespace {

using Type = HookMessage::Type;

struct TypeName {
    Type type;
    std::string_view name;
    bool about_job; // carries JobId and SLUID
};

constexpr std::array type_names = {
    TypeName{Type::hello, "hello", false},
    TypeName{Type::allocated, "allocated", true},
    TypeName{Type::ended, "ended", true},
    TypeName{Type::resync, "resync", false},
    TypeName{Type::bridge, "bridge", false},
    TypeName{Type::synced, "synced", false},
    TypeName{Type::unprotected, "unprotected", false},
    TypeName{Type::start, "start", true},
    TypeName{Type::fail, "fail", true},
    TypeName{Type::clean, "clean", true},
    TypeName{Type::kick, "kick", false},
    TypeName{Type::ping, "ping", false},
    TypeName{Type::pong, "pong", false},
};

const TypeName *find_type(Type type)
{
    for (const TypeName &entry : type_names)
        if (entry.type == type)
            return &entry;
    return nullptr;
}

const TypeName *find_type(std::string_view name)
{
    for (const TypeName &entry : type_names)
        if (entry.name == name)
            return &entry;
    return nullptr;
}

Result<JobRef> read_job(const Json &json)
{
    auto id = json.integer("job");
    auto sluid = Sluid::parse(json.text("sluid"));
    if (!id || *id <= 0 || *id > std::numeric_limits<JobId>::max())
        return fail(Code::rejected, "hook message without a job");
    if (!sluid)
        return fail(Code::rejected, "hook message without a sluid");
    return JobRef{static_cast<JobId>(*id), *sluid};
}

int small_integer(const Json &json, std::string_view key)
{
    auto n = json.integer(key);
    if (!n || *n < std::numeric_limits<int>::min() ||
        *n > std::numeric_limits<int>::max())
        return 0;
    return static_cast<int>(*n);
}

} // namespace

std::string cut_hostlist(const std::string &hostlist, std::size_t longest)
{
    if (hostlist.size() <= longest)
        return hostlist;
    // the last comma before which all fits, with a bracket that closes
    std::size_t end = 0;
    bool end_in_brackets = false, in_brackets = false;
    for (std::size_t i = 0; i < longest; i++) {
        if (hostlist[i] == '[' || hostlist[i] == ']')
            in_brackets = hostlist[i] == '[';
        if (hostlist[i] != ',')
            continue;
        end = i;
        end_in_brackets = in_brackets;
    }
    return hostlist.substr(0, end) + (end_in_brackets ? "]" : "");
}

std::string encode(const HookMessage &message)
{
    const TypeName *type = find_type(message.type);
    if (!type)
        return {};
    JsonValue json = JsonValue::object({{"type", type->name}});
    if (type->about_job)
        json.add("job", message.job.id).add("sluid", message.job.sluid.str());
    if (!message.nodes.empty())
        json.add("nodes", message.nodes);
    if (!message.dirty.empty())
        json.add("dirty", message.dirty);
    if (message.cpus != 0)
        json.add("cpus", message.cpus);
    if (message.ours)
        json.add("ours", true);
    if (message.batch)
        json.add("batch", true);
    if (message.unprotected)
        json.add("unprotected", true);
    if (message.more)
        json.add("more", true);
    if (message.rc != 0)
        json.add("rc", message.rc);
    if (message.type == Type::hello)
        json.add("version", message.version)
            .add("cluster", message.cluster)
            .add("host", message.host);
    return json.dump();
}

Result<HookMessage> decode_hook_message(std::string_view packet)
{
    auto json = Json::parse(packet);
    if (!json)
        return fail(json.error(), "hook message");
    std::string name = json->text("type");
    if (name.empty())
        return fail(Code::rejected, "hook message without a type");

    HookMessage message;
    const TypeName *type = find_type(name);
    if (!type)
        return message;
    message.type = type->type;
    if (type->about_job) {
        auto job = read_job(*json);
        if (!job)
            return fail(job.error(), name);
        message.job = *job;
    }
    message.nodes = json->text("nodes");
    message.dirty = json->text("dirty");
    message.cpus =
        static_cast<std::uint32_t>(std::max(0, small_integer(*json, "cpus")));
    message.ours = json->flag("ours");
    message.batch = json->flag("batch");
    message.unprotected = json->flag("unprotected");
    message.more = json->flag("more");
    message.rc = small_integer(*json, "rc");
    if (message.type == Type::fail && message.rc == 0)
        return fail(Code::rejected, "fail: rc is missing or 0");
    message.version = small_integer(*json, "version");
    message.cluster = json->text("cluster");
    message.host = json->text("host");
    return message;
}

} // namespace bridge
