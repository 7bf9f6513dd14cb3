// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/decide.h"

#include "common/contract/worker_names.h"
#include "operator/decide/autoscale.h"
#include "operator/decide/claims.h"
#include "operator/decide/cluster.h"
#include "operator/decide/ending.h"
#include "operator/decide/gres_order.h"
#include "operator/decide/names.h"
#include "operator/decide/node_conf.h"
#include "operator/decide/node_set_status.h"
#include "operator/decide/places.h"
#include "operator/decide/release_order.h"
#include "operator/decide/revisions.h"
#include "operator/decide/scale.h"
#include "operator/decide/update.h"
#include "operator/decide/worker_pod.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bridge::slinky {

namespace {

const Controller *controller_of(const Known &known, const NodeSet &set)
{
    auto found = known.controllers.find({set.meta.key.ns, set.controller});
    return found == known.controllers.end() ? nullptr : &found->second;
}

std::string controller_problem(const Known &known, const NodeSet &set,
                               const Controller *controller)
{
    std::string named = "Controller " + set.controller;
    if (!controller)
        return "There is no " + named + " in this namespace.";
    if (controller->meta.deleting)
        return named + " is being deleted.";
    if (!controller->external && !cluster_problem(known, *controller).empty())
        return named +
               " cannot be served: " + cluster_problem(known, *controller);
    if (controller->key_secret.empty() || controller->key_name.empty())
        return named + " has no slurmKeyRef. slurmd cannot authenticate "
                       "without the key.";
    return {};
}

// Why no Pod can be made.
std::string problem_of(const Known &known, const NodeSet &set)
{
    std::string problem =
        controller_problem(known, set, controller_of(known, set));
    if (!problem.empty())
        return problem;
    if (set.daemon_set && !known.nodes_listed)
        return "scalingMode DaemonSet needs the list of Nodes, and the "
               "operator does not have it: it needs the right to list and "
               "watch Nodes.";
    if (slurmd_image(set).empty())
        return "slurmd.image names no image.";
    if (set.spec.flag("template/spec/hostNetwork"))
        return "template.spec.hostNetwork is not served: the Slurm node would "
               "have the name of the Kubernetes Node.";
    if (problem = wrong_names(set); !problem.empty())
        return problem;
    if (problem = node_conf(set).problem; !problem.empty())
        return problem;
    if (problem = wrong_claims(set); !problem.empty())
        return problem;
    std::string other = same_names(known, set);
    if (!other.empty())
        return "Its Slurm nodes would have the same names as those of "
               "NodeSet " +
               other + ": give template.spec.hostname another value.";
    return {};
}

// Whether the records of Slurm nodes go with the Pods. Of workers that may come
// back at any time the agent makes new ones.
bool forgets(const NodeSet &set)
{
    return set.meta.deleting || autoscale_of(set).workers ||
           set.spec.text("pruneSlurmNodeRecords") == "NodeNotFound";
}

std::size_t wanted_of(const NodeSet &set, const DaemonPlaces &places)
{
    if (set.daemon_set)
        return places.slots.size();
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(wished_replicas(set), 0, 65533));
}

Seen seen_of(const Worker &worker)
{
    return {worker.meta.key, worker.meta.version};
}

Step create_step(const NodeSet &set, const Controller &controller,
                 const Slot &slot)
{
    return {Step::Verb::create,
            "create Pod " + slot.pod,
            pods_path(set.meta.key.ns),
            worker_pod(set, controller, slot),
            Told{"SuccessfulCreate",
                 "Created Pod " + slot.pod + ", Slurm node " + slot.host},
            Seen{{set.meta.key.ns, slot.pod}, ""}};
}

Step request_step(const Worker &worker, bool drain, bool for_good = false)
{
    const std::string &name = worker.meta.key.name;
    WorkerRequest request{next_request(worker), drain};
    auto annotations =
        JsonValue::object({{names::worker_request_annotation, request.text()}});
    if (for_good)
        annotations.add(names::forget_annotation, "true");
    auto metadata =
        JsonValue::object({{"name", name},
                           {"namespace", worker.meta.key.ns},
                           {"uid", worker.meta.uid},
                           {"annotations", std::move(annotations)}});
    auto body = JsonValue::object({{"apiVersion", "v1"},
                                   {"kind", "Pod"},
                                   {"metadata", std::move(metadata)}});
    return {
        Step::Verb::apply,
        (drain ? "ask to drain Pod " : "take back the request to Pod ") + name,
        applied(pod_path(worker.meta.key)),
        body.dump(),
        drain ? Told{"DrainRequested", "Pod " + name +
                                           " is to go: its Slurm node is to be "
                                           "drained first"}
              : Told{"DrainWithdrawn", "Pod " + name + " is to go on"},
        seen_of(worker)};
}

Step remove_step(const Worker &worker, const std::string &why)
{
    const std::string &name = worker.meta.key.name;
    return {Step::Verb::remove,
            "delete Pod " + name,
            pod_path(worker.meta.key),
            delete_body(worker.meta),
            Told{"SuccessfulDelete", "Deleted Pod " + name + ": " + why},
            seen_of(worker)};
}

void add_removals(const NodeSet &set,
                  const std::vector<const Worker *> &workers,
                  const ScalePlan &plan, std::vector<Step> &steps)
{
    for (const Worker *worker : plan.remove)
        steps.push_back(remove_step(
            *worker, is_alive(*worker) ? "its Slurm node is drained and has no "
                                         "job"
                                       : "it has ended"));
    if (!goes_at_once(set.meta))
        return;
    for (const Worker *worker : workers)
        if (is_alive(*worker) && !std::ranges::contains(plan.remove, worker) &&
            steps.size() < most_steps)
            steps.push_back(remove_step(*worker, "the annotation "
                                                 "slurmk8s/delete says now"));
}

void add_creations(const Known &known, const NodeSet &set,
                   const Controller &controller, const ScalePlan &plan,
                   std::vector<Step> &steps)
{
    for (const Slot &slot : plan.create) {
        if (!leaving_claim(known, set, slot.pod).empty())
            continue; // its end is seen, and brings us here again
        std::ranges::move(make_claims(known, set, slot.pod),
                          std::back_inserter(steps));
        steps.push_back(create_step(set, controller, slot));
    }
}

void add_scaling(const Known &known, const NodeSet &set,
                 const Controller *controller, const NodeSetFacts &facts,
                 const ScalePlan &plan, std::vector<Step> &steps)
{
    add_removals(set, facts.workers, plan, steps);
    for (const Worker *worker : plan.release)
        steps.push_back(request_step(*worker, false));
    if (!goes_at_once(set.meta))
        for (const Worker *worker : plan.ask)
            steps.push_back(
                request_step(*worker, true, plan.for_good.contains(worker)));
    if (facts.problem.empty() && facts.held.empty() && controller &&
        !set.meta.deleting)
        add_creations(known, set, *controller, plan, steps);
}

// A Pod that was made before its claim was seen to leave: it was never bound,
// so that no slurmd has run in it.
void add_stuck(const Known &known, const NodeSet &set,
               const std::vector<const Worker *> &workers,
               std::vector<Step> &steps)
{
    for (const Worker *worker : workers) {
        std::string claim = leaving_claim(known, set, worker->meta.key.name);
        if (claim.empty() || !worker->node.empty() || !is_alive(*worker))
            continue;
        Step step =
            remove_step(*worker, "it waits for PersistentVolumeClaim " + claim +
                                     ", which is being deleted");
        if (!std::ranges::contains(steps, step.what, &Step::what))
            steps.push_back(std::move(step));
    }
}

// The first of the steps that failed the last time and are to be made again.
std::string failure_of(const std::vector<Step> &steps, const Failures &failures)
{
    for (const Step &step : steps)
        if (auto found = failures.find(step.what); found != failures.end())
            return "Cannot " + step.what + ": " + found->second;
    return {};
}

bool is_cluster_going(const Controller *controller)
{
    return controller && !controller->external && controller->meta.deleting;
}

// Fills in all but the problem, and what the plan says.
void gather(const Known &known, const NodeSet &set,
            const Controller *controller, const DaemonPlaces &places,
            NodeSetFacts &facts)
{
    bool ends = set.meta.deleting || is_cluster_going(controller);
    facts.refused = places.refused;
    facts.wanted = ends ? 0 : wanted_of(set, places);
    facts.pins = pins_of(known, set, facts.workers);
    if (controller) {
        facts.revision = revision_of(set, *controller);
        facts.held = slurmd_waits(known, *controller, set);
        if (facts.held.empty())
            facts.held = gres_waits(known, *controller, set);
    }
    facts.sized = node_conf(set).sized;
    facts.external = controller && controller->external;
}

// What is not needed any more, and what the Pods are to be told.
void add_upkeep(const Known &known, const NodeSet &set,
                const NodeSetFacts &facts, std::vector<Step> &steps)
{
    auto add = [&](std::vector<Step> more) {
        std::ranges::move(more, std::back_inserter(steps));
    };
    add(tell_agent(set));
    add_stuck(known, set, facts.workers, steps);
    add(copy_annotations(known, facts.workers));
    add(drop_revisions(known, set, facts.revision, facts.workers));
    bool settled = facts.workers.size() == facts.wanted &&
                   std::ranges::all_of(facts.workers, [](const Worker *worker) {
                       return is_alive(*worker);
                   });
    add(keep_claims(known, set, settled));
}

} // namespace

std::vector<Step> decide_node_set(const Known &known, const NodeSet &set,
                                  const Failures &failures, Now now)
{
    const Controller *controller = controller_of(known, set);
    NodeSetFacts facts;
    facts.now = now;
    facts.workers = workers_of(known, set);
    if (set.meta.deleting && facts.workers.empty())
        return is_held(set) ? std::vector{let_go(set)} : std::vector<Step>{};
    facts.problem = problem_of(known, set);
    // Without the finalizer a deletion would take the Pods along at once.
    if (!is_held(set) && !set.meta.deleting && facts.problem.empty())
        return {hold(set)};
    bool ends = set.meta.deleting || is_cluster_going(controller);
    auto places =
        ends ? DaemonPlaces{} : daemon_places(known, set, facts.workers);
    gather(known, set, controller, places, facts);

    bool goes_on = facts.problem.empty() && !set.meta.deleting;
    ScalePlan plan =
        plan_scale(set, facts.workers,
                   {.wanted = facts.wanted,
                    .revision = facts.revision,
                    .update = goes_on && is_rolling(set) && facts.held.empty(),
                    .forget = forgets(set),
                    .pins = facts.pins,
                    .places = set.daemon_set ? &places : nullptr},
                   now);
    // Without the list of Nodes nobody knows which Pods are misplaced.
    if (set.daemon_set && !known.nodes_listed && !ends)
        plan = {};
    facts.waiting = plan.waiting;
    facts.updating = plan.updating;
    std::vector<Step> steps;
    // The template first, so that no Pod has one that nobody knows.
    if (goes_on)
        steps = keep_revision(known, set, facts.revision);
    add_scaling(known, set, controller, facts, plan, steps);
    if (goes_on)
        add_upkeep(known, set, facts, steps);
    facts.failure = failure_of(steps, failures);
    if (auto status = node_set_status(set, facts, now))
        steps.push_back(std::move(*status));
    return steps;
}

} // namespace bridge::slinky
