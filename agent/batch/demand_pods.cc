// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/demand_pods.h"

#include "common/contract/autoscaler_names.h"

#include <algorithm>
#include <format>
#include <map>
#include <set>
#include <utility>

namespace bridge {

namespace {

std::string demand_message(JobId job)
{
    return std::format("Slurm job {} waits for a node like this.", job);
}

// The value of the label, by which the Pods of one task know each other.
std::string group_of(const NodeDemand &demand, DemandPod which)
{
    return std::format("{}-{}", demand.job, which.task);
}

JsonValue expression(const std::string &key, const char *word,
                     const std::vector<std::string> &values = {})
{
    JsonValue::Object object{{"key", key}, {"operator", word}};
    if (!values.empty())
        object.emplace_back("values",
                            JsonValue::array({values.begin(), values.end()}));
    return JsonValue::object(object);
}

// On no Node with a Pod that such a selector matches.
JsonValue apart_from(const JsonValue &match)
{
    auto selector =
        JsonValue::object({{"matchExpressions", JsonValue::array({match})}});
    return JsonValue::object({{"labelSelector", selector},
                              {"namespaceSelector", JsonValue::object({})},
                              {"topologyKey", "kubernetes.io/hostname"}});
}

// A Node of one of the pools; another one for each node of the job.
JsonValue affinity(const NodeDemand &demand, DemandPod which, const Conf &conf)
{
    std::vector<JsonValue> terms;
    for (const NodePool &pool : conf.node_pools) {
        if (!std::ranges::contains(demand.pools, pool.name))
            continue;
        std::vector<JsonValue> labels;
        for (const auto &[key, value] : pool.labels)
            labels.push_back(expression(key, "In", {value}));
        terms.push_back(JsonValue::object(
            {{"matchExpressions", JsonValue::array(labels)}}));
    }
    auto nodes =
        JsonValue::object({{"requiredDuringSchedulingIgnoredDuringExecution",
                            JsonValue::object({{"nodeSelectorTerms",
                                                JsonValue::array(terms)}})}});
    std::vector<JsonValue> apart;
    if (demand.whole_nodes) {
        apart.push_back(apart_from(expression(names::demand_label, "Exists")));
        apart.push_back(apart_from(expression(names::job_id_label, "Exists")));
    } else if (demand.nodes > 1) {
        apart.push_back(apart_from(
            expression(names::demand_label, "In", {group_of(demand, which)})));
    }
    JsonValue::Object all{{"nodeAffinity", nodes}};
    if (!apart.empty())
        all.emplace_back("podAntiAffinity",
                         JsonValue::object(
                             {{"requiredDuringSchedulingIgnoredDuringExecution",
                               JsonValue::array(apart)}}));
    return JsonValue::object(all);
}

// Those of the agent and of the pools. Not all: a Node that is cordoned is no
// Node for this Pod.
JsonValue tolerations(const NodeDemand &demand, const Conf &conf)
{
    std::set<std::string> keys{names::managed_node_taint};
    for (const NodePool &pool : conf.node_pools)
        if (std::ranges::contains(demand.pools, pool.name))
            for (const std::string &taint : pool.taints)
                keys.insert(taint.substr(0, taint.find_first_of("=:")));
    std::vector<JsonValue> all;
    for (const std::string &key : keys)
        all.push_back(
            JsonValue::object({{"key", key}, {"operator", "Exists"}}));
    return JsonValue::array(all);
}

// It is never started; were it, it would be nobody's.
JsonValue container(const NodeDemand &demand)
{
    JsonValue::Object amounts{{"cpu", std::to_string(demand.cpus)}};
    if (demand.memory.value != 0)
        amounts.emplace_back("memory",
                             std::to_string(demand.memory.value) + "Mi");
    for (const auto &[name, count] : demand.devices)
        amounts.emplace_back(name, std::to_string(count));
    auto all = JsonValue::object(amounts);
    auto drop = JsonValue::object({{"drop", JsonValue::array({"ALL"})}});
    return JsonValue::object(
        {{"name", "waits"},
         {"image", "none"},
         {"resources", JsonValue::object({{"requests", all}, {"limits", all}})},
         {"securityContext",
          JsonValue::object(
              {{"allowPrivilegeEscalation", false}, {"capabilities", drop}})}});
}

Result<> say_it_waits(const Pod &pod, JobId job, Kube &kube)
{
    auto said =
        kube.set_unscheduled(pod, {names::unschedulable, demand_message(job)});
    bool gone = !said && said.error().code == Code::not_found;
    return gone ? Result<>{} : said;
}

} // namespace

std::string demand_pod_name(const NodeDemand &demand, DemandPod which)
{
    return std::format("slurm-waits-{}-{}-{}", demand.job, which.task,
                       which.node);
}

std::string demand_pod_body(const NodeDemand &demand, DemandPod which,
                            const Conf &conf)
{
    auto nobody = JsonValue::object({{"runAsUser", std::int64_t{65534}},
                                     {"runAsGroup", std::int64_t{65534}},
                                     {"runAsNonRoot", true}});
    auto labels =
        JsonValue::object({{names::demand_label, group_of(demand, which)}});
    auto metadata = JsonValue::object({{"name", demand_pod_name(demand, which)},
                                       {"namespace", conf.batch_namespace},
                                       {"labels", labels}});
    auto spec = JsonValue::object(
        {{"schedulerName", names::demand_scheduler},
         {"restartPolicy", "Never"},
         {"automountServiceAccountToken", false},
         {"terminationGracePeriodSeconds", std::int64_t{0}},
         {"securityContext", nobody},
         {"affinity", affinity(demand, which, conf)},
         {"tolerations", tolerations(demand, conf)},
         {"containers", JsonValue::array({container(demand)})}});
    return JsonValue::object({{"apiVersion", "v1"},
                              {"kind", "Pod"},
                              {"metadata", metadata},
                              {"spec", spec}})
        .dump();
}

Result<> carry_demands(const std::vector<NodeDemand> &demands, const Conf &conf,
                       Kube &kube)
{
    auto pods =
        kube.list_pods_with_label(conf.batch_namespace, names::demand_label);
    if (!pods)
        return std::unexpected(pods.error());
    std::map<std::string, const Pod *> there;
    for (const Pod &pod : *pods)
        if (!pod.bound() && !pod.deleting)
            there[pod.key.name] = &pod;
    Result<> said;
    auto note = [&](const Result<> &done) {
        if (!done && said)
            said = done;
    };
    for (const NodeDemand &demand : demands)
        for (DemandPod which; which.task < demand.tasks; which.task++)
            for (which.node = 0; which.node < demand.nodes; which.node++) {
                auto known = there.find(demand_pod_name(demand, which));
                if (known != there.end()) {
                    // The agent may have ended before it wrote the condition.
                    note(say_it_waits(*known->second, demand.job, kube));
                    there.erase(known);
                    continue;
                }
                auto made = kube.create_pod(
                    conf.batch_namespace, demand_pod_body(demand, which, conf));
                note(made ? say_it_waits(*made, demand.job, kube)
                          : Result<>(std::unexpected(made.error())));
            }
    for (const auto &[name, pod] : there)
        note(kube.delete_pod(*pod));
    return said;
}

} // namespace bridge
