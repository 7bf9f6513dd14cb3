// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/cluster.h"

#include "common/contract/worker_names.h"
#include "operator/decide/accounting.h"
#include "operator/decide/agent_state.h"
#include "operator/decide/cluster_objects.h"
#include "operator/decide/config_state.h"
#include "operator/decide/controller_pod.h"
#include "operator/decide/daemon_pod.h"
#include "operator/decide/ending.h"
#include "operator/decide/k8s_conf.h"
#include "operator/decide/names.h"
#include "operator/decide/release_order.h"
#include "operator/decide/said.h"
#include "operator/decide/scale.h"
#include "operator/decide/trial.h"
#include "operator/decide/unserved.h"
#include "operator/decide/workers_service.h"

#include <algorithm>
#include <format>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

namespace bridge::slinky {

namespace {

constexpr std::size_t longest_name = 40;    // labels of its Pod have 63
constexpr std::size_t longest_cluster = 40; // of slurmctld

// Another one of this namespace that was served before.
std::string other_controller(const Known &known, const Controller &controller)
{
    auto age = [](const Controller &one) {
        return std::tuple(!is_held(one), one.meta.created, one.meta.key.name);
    };
    for (const auto &[key, other] : known.controllers)
        if (key.ns == controller.meta.key.ns && !other.external &&
            key != controller.meta.key && age(other) < age(controller))
            return key.name;
    return {};
}

// All Pods with a slurmd of this cluster, also those of NodeSets that are gone.
std::vector<const Worker *> workers_of_cluster(const Known &known,
                                               const Controller &controller)
{
    std::vector<const Worker *> found;
    for (const auto &[key, worker] : known.workers) {
        auto cluster = worker.meta.labels.find(names::cluster_label);
        if (key.ns == controller.meta.key.ns &&
            cluster != worker.meta.labels.end() &&
            cluster->second == controller.meta.key.name)
            found.push_back(&worker);
    }
    return found;
}

std::vector<Step> remove_workers(const std::vector<const Worker *> &workers)
{
    std::vector<Step> steps;
    for (const Worker *worker : workers)
        if (!worker->meta.deleting && steps.size() < most_steps)
            steps.push_back(
                {Step::Verb::remove, "delete Pod " + worker->meta.key.name,
                 pod_path(worker->meta.key), delete_body(worker->meta)});
    return steps;
}

Said deleting(const std::vector<const Worker *> &workers)
{
    return {"Deleting", true, "WaitsForWorkers",
            std::format("slurmctld stays until the Slurm nodes of {} Pods are "
                        "drained and the Pods are gone, such as {}. The "
                        "annotation slurmk8s/delete: now ends their jobs.",
                        workers.size(), workers.front()->meta.key.name)};
}

std::vector<Step> decide_deletion(const Known &known,
                                  const Controller &controller, Now now)
{
    if (!is_held(controller))
        return {};
    auto workers = workers_of_cluster(known, controller);
    if (workers.empty())
        return {let_go(controller)};
    if (goes_at_once(controller.meta)) {
        auto steps = remove_workers(workers);
        if (steps.empty()) // they end, and need nobody to ask
            steps.push_back(let_go(controller));
        return steps;
    }
    return say("Controller", "controllers", controller.meta,
               controller.conditions, {deleting(workers)}, now);
}

bool is_made(const Known &known, const Controller &controller)
{
    return find_made(known, {"Controller", controller.meta}, "StatefulSet",
                     controller_service(controller.meta.key.name)) != nullptr;
}

// The addresses, and the rights of slurmk8sd: whatever becomes of the
// configuration.
std::vector<Wanted> around(const Known &known, const Controller &controller)
{
    std::vector<Wanted> wanted;
    if (!agent_image(known, controller).empty())
        wanted = agent_rights(controller);
    wanted.push_back(controller_address(controller));
    wanted.push_back(controller_names(controller));
    return wanted;
}

// What slurmctld itself needs. As long as the configuration is not accepted,
// that which is there stays as it is, and its Pod, too.
void add_slurmctld(const Known &known, const Controller &controller,
                   const ConfigState &config, const std::string &waits,
                   std::vector<Wanted> &wanted)
{
    const Configuration &wished = config.wanted;
    if (config.accepted())
        wanted.push_back(controller_conf(controller, wished));
    bool repairs = !config.live.empty() && !is_made(known, controller);
    if (waits.empty() && (config.accepted() || repairs))
        wanted.push_back(controller_set(
            known, controller, config.accepted() ? wished.hash : config.live));
}

std::vector<Step> steps_to_make(const Known &known,
                                const Controller &controller,
                                const ConfigState &config,
                                const std::string &waits, Now now)
{
    std::vector<Wanted> wanted = around(known, controller);
    add_slurmctld(known, controller, config, waits, wanted);
    std::vector<Step> steps;
    for (const Wanted &one : wanted)
        if (auto step = made_step(known, {"Controller", controller.meta}, one))
            steps.push_back(std::move(*step));
    auto add = [&](std::vector<Step> more) {
        std::ranges::move(more, std::back_inserter(steps));
    };
    const std::string &hash = config.wanted.hash;
    if (config.may_try() && !config.accepted())
        add(try_out(known, controller, config.wanted, now));
    if (auto step = announce(known, controller, config.live))
        steps.push_back(std::move(*step));
    if (config.wanted.known)
        add(end_trials(known, controller, config.live == hash ? "" : hash));
    add(serve_workers(known, controller));
    return steps;
}

Said served(const Controller &controller)
{
    auto fields = unserved_fields(controller);
    if (fields.empty())
        return {"Served", true, "Served", "All that the spec asks for."};
    std::string text;
    for (const std::string &field : fields)
        text += (text.empty() ? "" : "; ") + field;
    return {"Served", false, "NotServedYet", "Not served: " + text + "."};
}

Said available(const Known &known, const Controller &controller,
               const std::string &waits)
{
    const Made *made =
        find_made(known, {"Controller", controller.meta}, "StatefulSet",
                  controller_service(controller.meta.key.name));
    if (made && made->ready > 0)
        return {"Available", true, "Ready", "slurmctld answers."};
    if (!made && !waits.empty())
        return {"Available", false, "WaitsForAccounting", waits};
    return {"Available", false, "NotReady",
            "slurmctld does not answer. Its Pod, its claim or the Secrets that "
            "the Controller names say why. If its Node has died, Kubernetes "
            "starts it elsewhere once the Node has the taint "
            "node.kubernetes.io/out-of-service."};
}

std::string conf_problem(const Controller &controller)
{
    if (controller.cluster_name.size() > longest_cluster)
        return "The name of the cluster, \"" + controller.cluster_name +
               "\", has more than 40 characters: set clusterName.";
    if (controller.key_secret.empty() || controller.key_name.empty())
        return "slurmKeyRef has to name a Secret and the key in it.";
    if (jwt_key(controller.spec).secret.empty())
        return "jwtKeyRef has to name a Secret and the key in it.";
    if (controller.spec.text("slurmctld/image").empty())
        return "slurmctld.image names no image.";
    if (controller.spec.flag("template/spec/hostNetwork"))
        return "template.spec.hostNetwork is not served: slurmctld is known by "
               "the name of its Pod.";
    return k8s_conf_problem(controller);
}

} // namespace

std::string cluster_problem(const Known &known, const Controller &controller)
{
    const std::string &name = controller.meta.key.name;
    if (name.size() > longest_name || !is_host_label(name))
        return "The name of the Controller becomes a part of names of hosts: "
               "it "
               "may have at most 40 lower-case letters, digits and '-'.";
    std::string other = other_controller(known, controller);
    if (!other.empty())
        return "Controller " + other +
               " has a slurmctld in this namespace already. Each needs a "
               "namespace of its own.";
    return conf_problem(controller);
}

std::vector<Step> decide_cluster(const Known &known,
                                 const Controller &controller,
                                 const Failures &failures, Now now)
{
    if (controller.meta.deleting)
        return decide_deletion(known, controller, now);
    std::string problem = cluster_problem(known, controller);
    if (problem.empty() && !is_held(controller))
        return {hold(controller)};
    ControllerImages images = controller_images(known, controller);
    Controller allowed = with_images(controller, images);
    ConfigState config = config_state(known, allowed);
    std::string waits = is_made(known, controller)
                            ? std::string()
                            : accounting_waits(known, controller);
    std::vector<Step> steps;
    if (problem.empty())
        steps = steps_to_make(known, allowed, config, waits, now);
    if (!config.wanted.known) // more is said when it is
        return steps;
    std::vector<Said> said{accepted(problem, "A slurmctld can be made of it."),
                           served(controller),
                           available(known, controller, waits),
                           updated(images.reason),
                           agent_said(known, controller, config),
                           failing(refused(steps, failures))};
    if (problem.empty()) {
        said.push_back(config_valid(controller, config));
        said.push_back(config_applied(known, controller, config));
    }
    std::ranges::move(say("Controller", "controllers", controller.meta,
                          controller.conditions, said, now),
                      std::back_inserter(steps));
    return steps;
}

} // namespace bridge::slinky
