// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/slurm_conf.h"

#include "common/base/text.h"
#include "common/contract/worker_names.h"
#include "operator/decide/accounting.h"
#include "operator/decide/autoscale.h"
#include "operator/decide/controller_pod.h"
#include "operator/decide/daemon_pod.h"
#include "operator/decide/k8s_conf.h"
#include "operator/decide/made.h"
#include "operator/decide/names.h"
#include "operator/decide/scale.h"

#include <algorithm>
#include <bit>
#include <format>
#include <set>
#include <utility>

namespace bridge::slinky {

namespace {

constexpr std::int64_t least_nodes = 1024;
constexpr std::int64_t most_workers = 65533; // of one NodeSet

const std::string *annotation(const Meta &meta, const char *name)
{
    auto found = meta.annotations.find(name);
    return found == meta.annotations.end() ? nullptr : &found->second;
}

// Room for twice as many nodes as are wanted, never less than there was.
// others: those that may come beside those of NodeSets.
std::int64_t max_nodes(const std::vector<const NodeSet *> &sets,
                       std::int64_t others, std::int64_t before)
{
    std::int64_t nodes = std::min(others, most_workers);
    for (const NodeSet *set : sets)
        nodes += std::clamp<std::int64_t>(
            std::max(most_replicas(*set), set->replicas), 0, most_workers);
    auto wanted = static_cast<std::int64_t>(
        std::bit_ceil(static_cast<std::uint64_t>(2 * nodes)));
    return std::max({least_nodes, wanted, before});
}

bool has_partition(const NodeSet &set)
{
    return set.spec.flag("partition/enabled");
}

// Text of users on one line of the file, whatever it has in it.
std::string one_line(std::string text)
{
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < ' ' || c == 127 || c == '\\'; },
        ' ');
    return text;
}

std::string identity(const Controller &controller, std::int64_t nodes)
{
    const Key &key = controller.meta.key;
    return std::format(
        "# Made by slurmk8s-operator of Controller {}/{}. What is changed here "
        "is lost:\n# change the Controller and its NodeSets.\n"
        "ClusterName={}\n"
        "SlurmctldHost={}-0({})\n"
        "SlurmctldPort={}\n"
        "SlurmdPort=6818\n"
        "SlurmUser=slurm\n"
        "StateSaveLocation=/var/spool/slurmctld\n"
        "SlurmctldPidFile=/run/slurmctld/slurmctld.pid\n"
        "SlurmctldParameters=enable_configless,reconfig_on_restart\n"
        "MaxNodeCount={}\n"
        "ReturnToService=2\n",
        key.ns, key.name, controller.cluster_name, controller_service(key.name),
        controller.host, controller.port, nodes);
}

std::string authentication(const Controller &controller)
{
    return "\n# Identity\n"
           "AuthType=auth/slurm\n"
           "CredType=cred/slurm\n"
           "AuthInfo=use_client_ids\n"
           "AuthAltTypes=auth/jwt\n" +
           auth_alt_line(controller.spec) +
           "LaunchParameters=enable_nss_slurm\n";
}

// slurmd has no cgroup of its own to write: what limits a job is its Pod.
std::string scheduling(const Controller &controller)
{
    std::string text = "\n# Jobs\n"
                       "SelectType=select/cons_tres\n"
                       "SchedulerType=sched/backfill\n"
                       "ProctrackType=proctrack/linuxproc\n"
                       "TaskPlugin=task/none\n"
                       "MpiDefault=none\n"
                       "MailProg=/bin/true\n";
    if (loads_plugins(controller))
        text += "JobSubmitPlugins=k8s\n"
                "PrEpPlugins=prep/script,prep/k8s\n";
    if (controller.spec.flag("metrics/enabled"))
        text += "MetricsType=metrics/openmetrics\n";
    return text;
}

// Of its partition, behind a blank.
std::string options(const NodeSet &set)
{
    std::string config = set.spec.text("partition/config");
    return config.empty() ? config : " " + one_line(std::move(config));
}

// Each worker has slurm_name() of its NodeSet as a feature. A partition without
// NodeSet stays: slurmctld does not start with jobs of one that it does not
// know. NodeSets of one slurm_name() share what the first one has.
std::string partitions(const std::vector<const NodeSet *> &sets,
                       const ConfMemory &memory)
{
    std::string text;
    std::set<std::string> seen;
    for (const NodeSet *set : sets)
        if (std::string name = slurm_name(*set); seen.insert(name).second)
            text += std::format("NodeSet={0} Feature={0}\n", name);
    std::set<std::string> gone(memory.partitions.begin(),
                               memory.partitions.end());
    for (const NodeSet *set : sets) {
        std::string name = slurm_name(*set);
        gone.erase(name);
        if (seen.erase(name) == 0)
            continue;
        if (has_partition(*set))
            text += std::format("PartitionName={0} Nodes={0}{1}\n", name,
                                options(*set));
        else if (std::ranges::contains(memory.partitions, name))
            text += std::format("PartitionName={0} Nodes={0} State=INACTIVE\n",
                                name);
    }
    for (const std::string &name : gone)
        text += std::format("PartitionName={} State=INACTIVE\n", name);
    return text.empty() ? text : "\n# NodeSets\n" + text;
}

} // namespace

ConfMemory conf_memory(const Known &known, const Controller &controller)
{
    auto sets = sets_of(known, controller);
    const Made *made = find_made(known, {"Controller", controller.meta},
                                 "ConfigMap", conf_name(controller));
    ConfMemory memory;
    std::set<std::string> names;
    if (made) {
        if (auto *text = annotation(made->meta, names::max_nodes_annotation))
            memory.max_nodes = whole_number<std::int64_t>(*text).value_or(0);
        if (auto *text = annotation(made->meta, names::partitions_annotation))
            for (std::string_view rest = *text; !rest.empty();)
                names.emplace(next_part(rest, ','));
    }
    for (const NodeSet *set : sets)
        if (has_partition(*set))
            names.insert(slurm_name(*set));
    // Each Node may become an external node.
    std::int64_t others = has_bridge(controller) ? std::ssize(known.nodes) : 0;
    memory.max_nodes = max_nodes(sets, others, memory.max_nodes);
    memory.partitions.assign(names.begin(), names.end());
    return memory;
}

TextMap conf_files(const Known &known, const Controller &controller,
                   const ConfMemory &memory, const std::string &scripts)
{
    std::string conf = identity(controller, memory.max_nodes) +
                       authentication(controller) + scheduling(controller) +
                       accounting_conf(known, controller) +
                       partitions(sets_of(known, controller), memory);
    if (!scripts.empty())
        conf += "\n# Scripts\n" + scripts;
    std::string extra = controller.spec.text("extraConf");
    if (!extra.empty())
        conf += "\n# extraConf\n" + extra + (extra.ends_with('\n') ? "" : "\n");
    TextMap files{{"slurm.conf", std::move(conf)},
                  {"cgroup.conf", "CgroupPlugin=disabled\n"}};
    if (agent_image(known, controller).empty())
        return files;
    files.emplace(k8s_conf_file, k8s_conf(controller));
    if (has_bridge(controller))
        files.emplace(plugstack_file, plugstack_conf);
    return files;
}

} // namespace bridge::slinky
