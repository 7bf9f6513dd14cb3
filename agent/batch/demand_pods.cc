// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/demand_pods.h"

#include "common/base/edited_json.h"
#include "common/base/stable_hash.h"
#include "common/contract/autoscaler_names.h"

#include <algorithm>
#include <format>
#include <map>
#include <set>
#include <utility>

namespace bridge {

namespace {

constexpr std::int64_t nobody = 65534; // a user, and a group

const NodePool &pool_of(const NodeDemand &demand, const Conf &conf)
{
    return *std::ranges::find(conf.node_pools, demand.pool, &NodePool::name);
}

// The name of the resource under which a kubelet offers GRES of this kind
// ("gpu" or "gpu:a100"); empty: it does not.
std::string resource_of(const std::string &kind, const Conf &conf)
{
    for (const DeviceGres &known : conf.device_gres)
        if (known.is_resource() && known.gres + ":" + known.type == kind)
            return known.name;
    return {};
}

// What the Pod asks for. An autoscaler does not see GRES that are no resources
// of a kubelet (those of a DeviceClass): they take their part of the CPUs, so
// that no more Pods are put on a Node than it has GRES for.
JsonValue amounts_of(const NodeDemand &demand, const Conf &conf)
{
    const NodePool &pool = pool_of(demand, conf);
    const GresCounts has = node_gres(pool.gres);
    std::uint64_t cpus = demand.whole_nodes ? pool.cpus : demand.share.cpus;
    MebiBytes memory = demand.whole_nodes ? pool.memory : demand.share.memory;
    JsonValue::Object resources;
    for (const auto &[kind, count] : demand.share.gres) {
        std::string resource = resource_of(kind, conf);
        auto there = has.find(kind);
        if (!resource.empty())
            resources.emplace_back(resource, std::to_string(count));
        else if (there != has.end() && there->second != 0)
            cpus = std::max(cpus, (pool.cpus * count + there->second - 1) /
                                      there->second);
    }
    JsonValue::Object amounts{{"cpu", std::to_string(cpus)}};
    if (memory.value != 0)
        amounts.emplace_back("memory", std::to_string(memory.value) + "Mi");
    std::ranges::move(resources, std::back_inserter(amounts));
    return JsonValue::object(std::move(amounts));
}

// It is never started; were it, it would be nobody's.
JsonValue container(const NodeDemand &demand, const Conf &conf)
{
    auto all = amounts_of(demand, conf);
    auto drop = JsonValue::object({{"drop", JsonValue::array({"ALL"})}});
    return JsonValue::object(
        {{"name", "waits"},
         {"image", "none"},
         {"resources", JsonValue::object({{"requests", all}, {"limits", all}})},
         {"securityContext",
          JsonValue::object(
              {{"allowPrivilegeEscalation", false}, {"capabilities", drop}})}});
}

// The value of the label, by which the Pods of one task know each other.
std::string group_of(const NodeDemand &demand, DemandPod which)
{
    return std::format("{}-{}", demand.job, which.task);
}

// Another Node for each node of the job.
JsonValue apart(const std::string &group)
{
    auto match = JsonValue::object(
        {{"matchLabels", JsonValue::object({{names::demand_label, group}})}});
    auto term = JsonValue::object(
        {{"labelSelector", match}, {"topologyKey", "kubernetes.io/hostname"}});
    return JsonValue::object({{"requiredDuringSchedulingIgnoredDuringExecution",
                               JsonValue::array({term})}});
}

// The part of the site's template that says on which Nodes the Pods of batch
// jobs may be; the labels of the pool; and what the agent's taint needs.
Edited place_spec(const NodeDemand &demand, DemandPod which, const Conf &conf)
{
    Edited base = Edited{conf.batch_pod.pod}.part("spec");
    Edited selector = base.part("nodeSelector");
    for (const auto &[key, value] : pool_of(demand, conf).labels)
        selector.set(key.c_str(), value);
    Edited affinity{"{}"};
    Edited given = base.part("affinity");
    if (auto nodes = json_text(given.text, "nodeAffinity"))
        affinity.set_text("nodeAffinity", *nodes);
    if (demand.nodes > 1)
        affinity.set("podAntiAffinity", apart(group_of(demand, which)));
    Edited spec{"{}"};
    spec.set_text("nodeSelector", selector.text)
        .set_text("affinity", affinity.text);
    if (auto tolerations = json_text(base.text, "tolerations"))
        spec.set_text("tolerations", *tolerations);
    spec.append("tolerations",
                JsonValue::object({{"key", names::managed_node_taint},
                                   {"operator", "Exists"}}));
    return spec;
}

Edited spec_of(const NodeDemand &demand, DemandPod which, const Conf &conf)
{
    auto seccomp = JsonValue::object({{"type", "RuntimeDefault"}});
    auto security = JsonValue::object({{"runAsUser", nobody},
                                       {"runAsGroup", nobody},
                                       {"runAsNonRoot", true},
                                       {"seccompProfile", seccomp}});
    Edited spec = place_spec(demand, which, conf);
    spec.set("schedulerName", names::demand_scheduler)
        .set("restartPolicy", "Never")
        .set("automountServiceAccountToken", false)
        .set("terminationGracePeriodSeconds", std::int64_t{0})
        .set("securityContext", security)
        .set("containers", JsonValue::array({container(demand, conf)}));
    return spec;
}

struct NamedBody {
    std::string name;
    std::string body;
};

NamedBody named_body(const NodeDemand &demand, DemandPod which,
                     const Conf &conf)
{
    Edited spec = spec_of(demand, which, conf);
    std::string name =
        std::format("slurm-waits-{}-{}-{}-{:08x}", demand.job, which.task,
                    which.node, stable_hash(spec.text) & 0xffffffffU);
    auto labels =
        JsonValue::object({{names::demand_label, group_of(demand, which)}});
    auto metadata = JsonValue::object({{"name", name},
                                       {"namespace", conf.batch_namespace},
                                       {"labels", labels}});
    return {name, Edited{R"({"apiVersion":"v1","kind":"Pod"})"}
                      .set("metadata", metadata)
                      .set_text("spec", spec.text)
                      .text};
}

Result<> say_it_waits(const Pod &pod, JobId job, Kube &kube)
{
    std::string words =
        std::format("Slurm job {} waits for a node like this.", job);
    auto said = kube.set_unscheduled(pod, {names::unschedulable, words});
    bool gone = !said && said.error().code == Code::not_found;
    return gone ? Result<>{} : said;
}

struct Wanted {
    JobId job = 0;
    std::string body;
};

// All Pods that are wanted, by name, without those that are there.
Result<std::map<std::string, Wanted>>
missing(const std::vector<NodeDemand> &demands, const Conf &conf, Kube &kube)
{
    std::map<std::string, Wanted> wanted;
    for (const NodeDemand &demand : demands)
        for (DemandPod which; which.task < demand.tasks; which.task++)
            for (which.node = 0; which.node < demand.nodes; which.node++) {
                auto [name, body] = named_body(demand, which, conf);
                wanted.emplace(std::move(name),
                               Wanted{demand.job, std::move(body)});
            }
    auto pods =
        kube.list_pods_with_label(conf.batch_namespace, names::demand_label);
    if (!pods)
        return std::unexpected(pods.error());
    Result<> said;
    for (const Pod &pod : *pods) {
        if (pod.bound() || pod.deleting)
            continue;
        auto known = wanted.find(pod.key.name);
        // An agent may have ended before it wrote the condition.
        auto done = known == wanted.end()
                        ? kube.delete_pod(pod)
                        : say_it_waits(pod, known->second.job, kube);
        if (known != wanted.end())
            wanted.erase(known);
        if (!done && said)
            said = done;
    }
    if (!said)
        return std::unexpected(said.error());
    return wanted;
}

} // namespace

std::string demand_pod_body(const NodeDemand &demand, DemandPod which,
                            const Conf &conf)
{
    return named_body(demand, which, conf).body;
}

Result<std::size_t> carry_demands(const std::vector<NodeDemand> &demands,
                                  const Conf &conf, Kube &kube)
{
    auto wanted = missing(demands, conf, kube);
    if (!wanted)
        return std::unexpected(wanted.error());
    std::size_t left = wanted->size();
    std::size_t room = most_made_at_once;
    for (const auto &[name, one] : *wanted) {
        if (room-- == 0)
            break;
        auto made = kube.create_pod(conf.batch_namespace, one.body);
        if (!made)
            return std::unexpected(made.error());
        if (auto said = say_it_waits(*made, one.job, kube); !said)
            return std::unexpected(said.error());
        left--;
    }
    return left;
}

} // namespace bridge
