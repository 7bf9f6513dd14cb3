// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_slurm.h"

#include <algorithm>
#include <charconv>
#include <format>
#include <iterator>
#include <optional>
#include <tuple>

namespace bridge {

namespace {

constexpr char slurm_conf[] = "slurm.conf";
constexpr std::chrono::seconds least_job_age{300};
constexpr long longest_backfill_interval = 10; // seconds
constexpr long least_queue_depth = 500;

using Version = std::tuple<int, int, int>;

// Parses "26.05.5" or "26.05.5-1"; returns nothing for anything else.
std::optional<Version> parse_version(const std::string &text)
{
    int parts[3] = {};
    const char *at = text.data(), *end = at + text.size();
    for (int i = 0; i < 3; i++) {
        if (i > 0 && (at == end || *at++ != '.'))
            return std::nullopt;
        auto [rest, error] = std::from_chars(at, end, parts[i]);
        if (error != std::errc())
            return std::nullopt;
        at = rest;
    }
    return Version{parts[0], parts[1], parts[2]};
}

std::string joined(const std::vector<std::string> &words,
                   const std::string &prefix = {})
{
    std::string text;
    for (const std::string &word : words)
        text += (text.empty() ? "" : ",") + prefix + word;
    return text;
}

bool has(const std::vector<std::string> &words, const char *word)
{
    return std::ranges::contains(words, word);
}

// Returns the number of a parameter, or nothing if it is not set or not a
// number.
std::optional<long> number(const SlurmFacts &slurm, const std::string &name)
{
    auto found = slurm.scheduler_parameters.find(name);
    if (found == slurm.scheduler_parameters.end())
        return std::nullopt;
    long value = 0;
    const std::string &text = found->second;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc())
        return std::nullopt;
    return value;
}

Finding parameter_finding(const SlurmFacts &slurm, const std::string &says,
                          const std::string &name, const std::string &value)
{
    return make_finding(
        Severity::warning, slurm_conf, says,
        {"SchedulerParameters=", slurm.scheduler_parameters, {{name, value}}});
}

Findings check_job_submit(const SlurmFacts &slurm)
{
    auto plugins = slurm.job_submit_plugins;
    bool there = std::erase(plugins, "k8s") != 0;
    plugins.emplace_back("k8s");
    std::string line = "JobSubmitPlugins=" + joined(plugins);
    if (!there)
        return {{Severity::error, slurm_conf,
                 "job_submit/k8s is not loaded: any user can submit external "
                 "jobs and mark jobs as ours",
                 line}};
    if (slurm.job_submit_plugins.back() != "k8s")
        return {{Severity::warning, slurm_conf,
                 "job_submit/k8s is not the last: it does not see what the "
                 "plugins after it make of a job",
                 line}};
    return {};
}

Findings check_prep(const SlurmFacts &slurm)
{
    auto plugins = slurm.prep_plugins;
    bool k8s = std::erase(plugins, "k8s") != 0;
    bool script = has(plugins, "script");
    if (!script)
        plugins.insert(plugins.begin(), "script");
    plugins.emplace_back("k8s");
    std::string line = "PrEpPlugins=" + joined(plugins, "prep/");
    if (!k8s)
        return {{Severity::error, slurm_conf,
                 "prep/k8s is not loaded: the agent never hears of an "
                 "allocation, and ordinary jobs start beside Pods that are "
                 "still ending",
                 line}};
    if (!script)
        return {{slurm.prolog_scripts ? Severity::error : Severity::warning,
                 slurm_conf,
                 "PrEpPlugins without prep/script switches Prolog, Epilog, "
                 "PrologSlurmctld and EpilogSlurmctld off",
                 line}};
    return {};
}

} // namespace

Findings check_version(const SlurmFacts &slurm)
{
    auto version = parse_version(slurm.version);
    if (!version)
        return {{Severity::warning, "slurmctld",
                 "its version \"" + slurm.version + "\" is not understood",
                 ""}};
    if (*version < Version{26, 5, 0})
        return {{Severity::error, "slurmctld",
                 "Slurm " + slurm.version +
                     " is too old: external jobs and nodes need 26.05 or "
                     "later",
                 "upgrade Slurm"}};
    if (version != parse_version(slurm.built_for))
        return {{Severity::error, "slurmctld",
                 "Slurm is " + slurm.version +
                     " and the plugins were built "
                     "for " +
                     slurm.built_for +
                     ": slurmctld refuses plugins of another version, at its "
                     "next start if not now",
                 "build slurm-k8s-bridge again, with the headers of Slurm " +
                     slurm.version}};
    return {};
}

Findings check_plugins(const SlurmFacts &slurm)
{
    Findings found = check_job_submit(slurm);
    std::ranges::move(check_prep(slurm), std::back_inserter(found));
    return found;
}

Findings check_node_table(const SlurmFacts &slurm, std::size_t nodes)
{
    std::size_t need = slurm.nodes.size() + nodes;
    if (slurm.max_nodes && *slurm.max_nodes >= need)
        return {};
    std::string line =
        std::format("MaxNodeCount={}", std::max<std::size_t>(1024, 2 * need));
    if (!slurm.max_nodes)
        return {{Severity::error, slurm_conf,
                 "MaxNodeCount is not set: no node can be made, and a restart "
                 "of slurmctld forgets those that were",
                 line}};
    return {{Severity::error, slurm_conf,
             std::format("MaxNodeCount is {}, but there are {} nodes: more "
                         "cannot be made, and a restart of slurmctld forgets "
                         "those beyond it for good",
                         *slurm.max_nodes, need),
             line}};
}

Findings check_job_age(const SlurmFacts &slurm)
{
    if (slurm.min_job_age == std::chrono::seconds(0) ||
        slurm.min_job_age >= least_job_age)
        return {};
    return {
        {Severity::error, slurm_conf,
         std::format("MinJobAge is {} s: if a job is purged before the agent "
                     "sees its end, its waiting Pod is submitted again",
                     slurm.min_job_age.count()),
         std::format("MinJobAge={}", least_job_age.count())}};
}

Findings check_select(const SlurmFacts &slurm)
{
    if (!slurm.select_type.ends_with("cons_tres"))
        return {{Severity::error, slurm_conf,
                 "SelectType is " + slurm.select_type +
                     ": Pods share nodes, which only select/cons_tres counts",
                 "SelectType=select/cons_tres"}};
    if (!slurm.counts_memory)
        return {{Severity::error, slurm_conf,
                 "memory is not counted: kubelets will refuse Pods that Slurm "
                 "has placed (OutOfmemory)",
                 "SelectTypeParameters=CR_Core_Memory"}};
    return {};
}

Findings check_scheduler(const SlurmFacts &slurm)
{
    Findings found;
    auto advise = [&](const std::string &says, const std::string &name,
                      const std::string &value) {
        found.push_back(parameter_finding(slurm, says, name, value));
    };
    if (!slurm.scheduler_type.ends_with("backfill"))
        found.push_back(
            {Severity::warning, slurm_conf,
             "SchedulerType is " + slurm.scheduler_type +
                 ": whatever is behind a job that cannot start waits for it",
             "SchedulerType=sched/backfill"});
    else if (long interval = number(slurm, "bf_interval").value_or(30);
             interval > longest_backfill_interval)
        advise(std::format("backfill runs every {} s: a Pod waits that long "
                           "behind a job of higher priority that cannot start",
                           interval),
               "bf_interval", "5");
    if (number(slurm, "default_queue_depth").value_or(100) < least_queue_depth)
        advise("the scheduler looks at few jobs in one pass: a long queue that "
               "cannot start hides others that can",
               "default_queue_depth", "1000");
    if (number(slurm, "partition_job_depth").value_or(0) == 0)
        advise("partition_job_depth is not set: the queue of one partition "
               "hides those of others",
               "partition_job_depth", "200");
    if (number(slurm, "batch_sched_delay").value_or(3) > 0)
        advise("batch_sched_delay is not 0: jobs wait that long whenever the "
               "plugin cannot ask the scheduler to run at once",
               "batch_sched_delay", "0");
    return found;
}

Findings check_limits(const SlurmFacts &slurm)
{
    Findings found;
    if (!slurm.enforces_part_limits)
        found.push_back({Severity::warning, slurm_conf,
                         "EnforcePartLimits is off: a Pod that no node can "
                         "hold waits for ever instead of being refused",
                         "EnforcePartLimits=ALL"});
    if (slurm.complete_wait > std::chrono::seconds(0))
        found.push_back({Severity::warning, slurm_conf,
                         "CompleteWait stops a whole partition while the Pods "
                         "of one job end",
                         "CompleteWait=0"});
    if (slurm.gang)
        found.push_back({Severity::error, slurm_conf,
                         "PreemptMode has GANG: Slurm gives the resources of a "
                         "suspended job away while its Pods run on",
                         "PreemptMode=CANCEL"});
    return found;
}

Findings check_gres_types(const SlurmFacts &slurm, const Conf &conf)
{
    std::vector<std::string> wanted = slurm.gres_types;
    for (const DeviceGres &one : conf.device_gres)
        if (!one.is_cpus() && !std::ranges::contains(wanted, one.gres))
            wanted.push_back(one.gres);
    for (const CapacityGres &one : conf.capacity_gres)
        if (one.gres != cpu_gres && !std::ranges::contains(wanted, one.gres))
            wanted.push_back(one.gres);
    if (wanted.size() == slurm.gres_types.size())
        return {};
    std::string line;
    for (const std::string &gres : wanted)
        line += (line.empty() ? "GresTypes=" : ",") + gres;
    return {{Severity::error, slurm_conf,
             "GresTypes lacks what DeviceGres or DeviceCapacity in k8s.conf "
             "names: Slurm drops such devices silently",
             line}};
}

Findings check_pod_arrays(const SlurmFacts &slurm, const Conf &conf)
{
    if (conf.batch_namespace.empty() || slurm.burst_buffer == "k8s")
        return {};
    if (!slurm.burst_buffer.empty())
        return {{Severity::note, slurm_conf,
                 "BurstBufferType is " + slurm.burst_buffer +
                     ", and Slurm has only one: job arrays do not run as "
                     "Pods, and sbatch refuses them",
                 ""}};
    return {{Severity::warning, slurm_conf,
             "SbatchNamespace is set and BurstBufferType is not: job arrays do "
             "not run as Pods, and sbatch refuses them",
             "BurstBufferType=burst_buffer/k8s"}};
}

Findings check_power_saving(const SlurmFacts &slurm)
{
    if (!slurm.powers_down)
        return {};
    if (!slurm.spares_some)
        return {{Severity::error, slurm_conf,
                 "power saving would power the nodes of Pods down",
                 "SuspendExcParts=the partitions of Kubernetes' nodes"}};
    return {{Severity::note, slurm_conf,
             "power saving is on: SuspendExcParts or SuspendExcNodes must "
             "cover the nodes of Pods",
             ""}};
}

Findings check_accounting(const SlurmFacts &slurm)
{
    if (!slurm.accounting)
        return {{Severity::warning, slurm_conf,
                 "there is no slurmdbd: users, accounts and limits are not "
                 "checked, and how a purged job ended is not known",
                 "AccountingStorageType=accounting_storage/slurmdbd"}};
    Findings found;
    if (!slurm.enforces_limits)
        found.push_back(make_finding(
            Severity::warning, slurm_conf,
            "limits of users and accounts are not enforced",
            {"AccountingStorageEnforce=",
             slurm.enforced,
             {{"associations", ""}, {"limits", ""}, {"qos", ""}}}));
    if (!slurm.stores_comment)
        found.push_back(make_finding(
            Severity::note, slurm_conf,
            "sacct does not keep how a Pod ended (Evicted, OOMKilled)",
            {"AccountingStoreFlags=",
             slurm.store_flags,
             {{"job_comment", ""}}}));
    return found;
}

} // namespace bridge
