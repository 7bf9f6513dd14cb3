// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/agent_state.h"

#include "operator/decide/controller_pod.h"
#include "operator/decide/k8s_conf.h"

#include <format>

namespace bridge::slinky {

namespace {

constexpr char condition[] = "Agent";
constexpr char workers[] = "Workers";
constexpr char pods[] = "Bridge";
constexpr char becoming[] = "Changes";

bool is_bridge(const TextMap &files)
{
    auto found = files.find(k8s_conf_file);
    return found != files.end() && schedules_pods(found->second);
}

// Whether slurmk8sd is what it is to be. Its first configuration is the first
// that it reads; of a later one it tells. A change of other things is none.
bool is_settled(const Known &known, const Controller &controller,
                const ConfigState &config, bool to_be_bridge)
{
    const Made *live = live_conf(known, controller);
    if (!live || config.live.empty())
        return true;
    if (is_bridge(live->data) != to_be_bridge)
        return false;
    const Condition *before = find_condition(controller.conditions, condition);
    return config.applied || !before ||
           (before->reason != becoming &&
            before->reason != (to_be_bridge ? workers : pods));
}

Said changes(bool to_be_bridge)
{
    std::string text =
        to_be_bridge
            ? "Slurm is to schedule Pods of this Kubernetes, and slurmk8sd has "
              "not read that yet: it serves workers only."
            : "slurmk8sd is to serve workers only, and has not read that yet: "
              "Slurm still schedules Pods, and it needs its rights for that.";
    return {condition, false, becoming,
            text + " The other conditions say what it waits for.", true};
}

// The site's own plugstack.conf wins.
std::string plugstack_note(const Configuration &wanted)
{
    auto found = wanted.texts.find(plugstack_file);
    if (found != wanted.texts.end() && found->second == plugstack_conf)
        return {};
    return " plugstack.conf is a file of the site: sbatch knows --k8s-image if "
           "it has the line \"optional spank_k8s.so\".";
}

Said serves_pods(const Controller &controller, const Configuration &wanted)
{
    const Key &key = controller.meta.key;
    return {condition, true, pods,
            std::format("slurmk8sd runs beside slurmctld, and answers for the "
                        "workers of this namespace. Slurm schedules Pods of "
                        "this Kubernetes, for which an administrator gives "
                        "slurmk8sd its rights: chart slurm-k8s-bridge with "
                        "agent.namespace={} and agent.serviceAccount={}.{}",
                        key.ns, controller_service(key.name),
                        has_bridge(controller) ? plugstack_note(wanted)
                                               : std::string())};
}

} // namespace

Said agent_said(const Known &known, const Controller &controller,
                const ConfigState &config)
{
    if (agent_image(known, controller).empty())
        return {condition, false, "NoImage",
                "Nobody has said which image slurmk8sd comes from "
                "(--agent-image, or the annotation slurmk8s/agent-image): no "
                "worker is removed but by hand."};
    if (wants_bridge(controller) && !has_bridge(controller))
        return {condition, false, "NoPlugins",
                "Slurm cannot schedule Pods (annotation slurmk8s/bridge): "
                "slurmctld has to load prep/k8s and job_submit/k8s for that. "
                "The annotation slurmk8s/plugins: \"true\" has it load them; "
                "they must be in the images of slurmctld and of slurmd."};
    bool to_be_bridge = is_bridge(config.wanted.texts);
    if (!is_settled(known, controller, config, to_be_bridge))
        return changes(to_be_bridge);
    if (to_be_bridge)
        return serves_pods(controller, config.wanted);
    return {condition, true, workers,
            "slurmk8sd runs beside slurmctld, and answers for the workers of "
            "this namespace. Slurm schedules no Pods."};
}

} // namespace bridge::slinky
