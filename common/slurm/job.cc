// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/job.h"

#include "common/base/json.h"
#include "common/contract/batch_script.h"

namespace bridge {

namespace {

// The member that marks an admin_comment as ours; its value is the version of
// the format.
constexpr char format_key[] = "slurmk8s";
constexpr int format = 1;

JsonValue array_of(const std::vector<std::string> &texts)
{
    return JsonValue::array({texts.begin(), texts.end()});
}

} // namespace

std::string encode(const GangTag &tag)
{
    JsonValue json = JsonValue::object({{format_key, format},
                                        {"gang", tag.gang},
                                        {"uid", tag.uid},
                                        {"generation", tag.generation}});
    if (!tag.first.empty())
        json.add("first", tag.first);
    if (!tag.group.empty())
        json.add("group", tag.group);
    if (!tag.script.empty())
        json.add("sbatch", tag.script);
    if (tag.components != 0)
        json.add("components", tag.components);
    if (!tag.claims.empty())
        json.add("claims", array_of(tag.claims));
    return json.dump();
}

std::optional<GangTag> decode_gang_tag(const std::string &admin_comment)
{
    if (!admin_comment.starts_with('{'))
        return std::nullopt;
    auto json = Json::parse(admin_comment);
    if (!json || json->integer(format_key) != format)
        return std::nullopt;
    GangTag tag;
    tag.gang = json->text("gang");
    tag.uid = json->text("uid");
    tag.first = json->text("first");
    tag.group = json->text("group");
    tag.script = json->text("sbatch");
    for (const Json &claim : json->items("claims"))
        tag.claims.push_back(claim.text());
    if (!tag.script.empty() && !is_script_name(tag.script))
        return std::nullopt;
    auto components = json->integer("components").value_or(0);
    if (components < 0 || components > UINT32_MAX)
        return std::nullopt;
    tag.components = static_cast<std::uint32_t>(components);
    if (!tag.script.empty() && tag.uid.empty())
        return tag; // a tag from job_submit/k8s
    auto generation = json->integer("generation");
    if (tag.uid.empty() || !generation || *generation < 0 ||
        *generation > UINT32_MAX)
        return std::nullopt;
    tag.generation = static_cast<std::uint32_t>(*generation);
    return tag;
}

const char *state_name(JobState state)
{
    switch (state) {
    case JobState::pending:
        return "PENDING";
    case JobState::configuring:
        return "CONFIGURING";
    case JobState::running:
        return "RUNNING";
    case JobState::suspended:
        return "SUSPENDED";
    case JobState::completed:
        return "COMPLETED";
    case JobState::cancelled:
        return "CANCELLED";
    case JobState::failed:
        return "FAILED";
    case JobState::timeout:
        return "TIMEOUT";
    case JobState::node_fail:
        return "NODE_FAIL";
    case JobState::preempted:
        return "PREEMPTED";
    case JobState::boot_fail:
        return "BOOT_FAIL";
    case JobState::deadline:
        return "DEADLINE";
    case JobState::out_of_memory:
        return "OUT_OF_MEMORY";
    case JobState::unknown:
        break;
    }
    return "UNKNOWN";
}

} // namespace bridge
