// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/wish_table.h"

#include "agent/decide/job_values.h"
#include "common/base/text.h"
#include "common/contract/constraints.h"

#include <algorithm>
#include <array>

namespace bridge {

namespace {

template <std::string JobDescription::*field>
std::string apply_names(const Asking &asking)
{
    if (!is_name_list(asking.value))
        return "be a name of letters, digits and _ - . @ +";
    asking.job.*field = asking.value;
    return {};
}

// Only checks: identity.h decides whom the job is for.
std::string check_names(const Asking &asking)
{
    return is_name_list(asking.value)
               ? ""
               : "be a name of letters, digits and _ - . @ +";
}

template <std::string JobDescription::*field>
std::string apply_text(const Asking &asking)
{
    if (!is_plain_text(asking.value))
        return "be at most 1024 bytes without control characters";
    asking.job.*field = asking.value;
    return {};
}

template <std::string JobDescription::*field, auto is_good>
std::string apply_list(const Asking &asking)
{
    if (!is_good(asking.value))
        return "be written as for sbatch";
    asking.job.*field = asking.value;
    return {};
}

std::string apply_dependency(const Asking &asking)
{
    if (!is_dependency(asking.value))
        return "be after, afterany, afterok, afternotok or aftercorr with "
               "JobIds, or singleton, as for sbatch --dependency";
    asking.job.dependency = asking.value;
    return {};
}

std::string apply_constraints(const Asking &asking)
{
    if (std::string must = unfit_constraint_reason(asking.value); !must.empty())
        return must;
    asking.job.features = asking.value;
    return {};
}

std::string apply_time_limit(const Asking &asking)
{
    auto minutes = parse_time_limit(asking.value);
    if (!minutes)
        return "be minutes or days-hours:minutes:seconds, as for sbatch --time";
    asking.job.time_limit = minutes;
    return {};
}

template <std::chrono::sys_seconds JobDescription::*field>
std::string apply_moment(const Asking &asking)
{
    auto moment = parse_moment(asking.value, asking.created);
    if (!moment)
        return "be a time such as 2026-12-24T18:00:00, the same with a Z for "
               "UTC, or now+2hours, counted from when the Pod was created";
    asking.job.*field = *moment;
    return {};
}

std::string apply_priority(const Asking &asking)
{
    constexpr std::int64_t most = 0xfffffffd; // just below NO_VAL
    auto n = parse_number(asking.value, 0, most);
    if (!n)
        return "be a number from 0, which holds the job";
    asking.job.priority = static_cast<std::uint32_t>(*n);
    return {};
}

std::string apply_nice(const Asking &asking)
{
    auto n = parse_number(asking.value, -max_nice, max_nice);
    if (!n)
        return "be a number, as for sbatch --nice";
    asking.job.nice = static_cast<std::int32_t>(*n);
    return {};
}

// Rejects GRES with devices: Slurm would count them, but the container would
// not get them.
std::string apply_gres(const Asking &asking)
{
    if (!is_gres_list(asking.value))
        return "be NAME[:TYPE][:COUNT], as for sbatch --gres";
    std::string list;
    std::string_view rest = asking.value;
    while (!rest.empty()) {
        std::string_view gres = next_part(rest, ',');
        std::string_view name = gres.substr(0, gres.find(':'));
        if (name == "gpu" || name == "mps" || name == "shard")
            return "not name gpu, mps or shard: containers do not get the "
                   "devices of this GRES";
        list += (list.empty() ? "gres/" : ",gres/") + std::string(gres);
    }
    asking.job.gres = std::move(list);
    return {};
}

std::string apply_exclusive(const Asking &asking)
{
    struct Word {
        std::string_view word;
        Sharing sharing;
    };
    constexpr std::array<Word, 4> words = {{{"true", Sharing::nobody},
                                            {"false", Sharing::all},
                                            {"user", Sharing::same_user},
                                            {"mcs", Sharing::same_mcs_label}}};
    auto found = std::ranges::find(words, asking.value, &Word::word);
    if (found == words.end())
        return "be true, false, user or mcs";
    asking.job.sharing = found->sharing;
    return {};
}

std::string apply_contiguous(const Asking &asking)
{
    if (asking.value != "true" && asking.value != "false")
        return "be true or false";
    asking.job.contiguous = asking.value == "true";
    return {};
}

std::string apply_heterogeneous(const Asking &asking)
{
    if (asking.value != "true" && asking.value != "false")
        return "be true or false";
    asking.job.heterogeneous = asking.value == "true";
    return {};
}

std::string at_most_a_node_each(const JobDescription &job)
{
    return job.tasks == 1
               ? "be 1: a Pod alone is on one node"
               : "be a number from 1 to " + std::to_string(job.tasks) +
                     ", the number of Pods";
}

std::string apply_min_nodes(const Asking &asking)
{
    auto n = parse_number(asking.value, 1, asking.job.tasks);
    if (!n)
        return at_most_a_node_each(asking.job);
    asking.job.min_nodes = static_cast<std::uint32_t>(*n);
    if (asking.job.min_nodes > asking.job.max_nodes)
        return "not be more than max-nodes";
    return {};
}

// More nodes than Pods are harmless.
std::string apply_max_nodes(const Asking &asking)
{
    auto n = parse_number(asking.value, 1, UINT32_MAX);
    if (!n)
        return "be a number from 1";
    asking.job.max_nodes =
        std::min(asking.job.max_nodes, static_cast<std::uint32_t>(*n));
    return {};
}

std::string apply_segment(const Asking &asking)
{
    auto n = parse_number(asking.value, 1, std::min(asking.job.tasks, 65533u));
    if (!n)
        return at_most_a_node_each(asking.job);
    asking.job.segment = static_cast<std::uint16_t>(*n);
    return {};
}

std::string apply_switches(const Asking &asking)
{
    auto switches = parse_switches(asking.value);
    if (!switches)
        return "be COUNT or COUNT@TIME, as for sbatch --switches";
    asking.job.switches = switches->count;
    asking.job.switches_wait = switches->wait;
    return {};
}

// Containers always get what their Pod requests: a smaller job would not cover
// them.
std::string apply_cpus(const Asking &asking)
{
    JobDescription &job = asking.job;
    auto cpu = parse_cpu(asking.value);
    std::uint32_t cpus = cpu ? whole_cpus_up(*cpu) : 0;
    if (cpus < job.cpus_per_task || cpus > UINT16_MAX)
        return "be a number of CPUs from " + std::to_string(job.cpus_per_task) +
               ", which the Pod asks for, to 65535";
    std::uint64_t memory = job.memory_per_cpu.value * job.cpus_per_task;
    job.cpus_per_task = static_cast<std::uint16_t>(cpus);
    job.memory_per_cpu.value = memory / cpus + (memory % cpus != 0);
    return {};
}

std::string apply_memory(const Asking &asking)
{
    JobDescription &job = asking.job;
    if (job.memory_per_node.value == 0)
        return "not be given for several Pods: each asks for its own memory";
    auto bytes = parse_bytes(asking.value);
    if (!bytes || mebibytes_up(*bytes) < job.memory_per_node)
        return "be an amount such as 4Gi, and at least the " +
               std::to_string(job.memory_per_node.value) +
               "Mi that the Pod asks for";
    job.memory_per_node = mebibytes_up(*bytes);
    return {};
}

struct KnownWish {
    std::string_view name;
    ApplyWish apply;
};

constexpr std::array known_wishes = {
    KnownWish{"account", check_names},
    KnownWish{"begin", apply_moment<&JobDescription::begin>},
    KnownWish{"comment", apply_text<&JobDescription::comment>},
    KnownWish{"constraints", apply_constraints},
    KnownWish{"contiguous", apply_contiguous},
    KnownWish{"cpu-per-task", apply_cpus},
    KnownWish{"deadline", apply_moment<&JobDescription::deadline>},
    KnownWish{"dependency", apply_dependency},
    KnownWish{"exclusive", apply_exclusive},
    KnownWish{"gres", apply_gres},
    KnownWish{"group-id", check_names},
    KnownWish{"heterogeneous", apply_heterogeneous},
    KnownWish{"job-name", apply_text<&JobDescription::name>},
    KnownWish{"licenses",
              apply_list<&JobDescription::licenses, is_license_list>},
    KnownWish{"max-nodes", apply_max_nodes},
    KnownWish{"mcs-label", apply_names<&JobDescription::mcs_label>},
    KnownWish{"mem-per-node", apply_memory},
    KnownWish{"min-nodes", apply_min_nodes}, // after max-nodes
    KnownWish{"nice", apply_nice},
    KnownWish{"partition", apply_names<&JobDescription::partition>},
    KnownWish{"priority", apply_priority},
    KnownWish{"qos", check_names},
    KnownWish{"reservation", apply_names<&JobDescription::reservation>},
    KnownWish{"segment", apply_segment},
    KnownWish{"switches", apply_switches},
    KnownWish{"timelimit", apply_time_limit},
    KnownWish{"user-id", check_names},
    KnownWish{"wckey", apply_names<&JobDescription::wckey>},
};

} // namespace

ApplyWish find_wish(std::string_view name)
{
    auto found = std::ranges::find(known_wishes, name, &KnownWish::name);
    return found == known_wishes.end() ? nullptr : found->apply;
}

} // namespace bridge
