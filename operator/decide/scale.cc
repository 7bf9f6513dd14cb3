// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/scale.h"

#include "common/base/text.h"
#include "common/contract/worker_names.h"
#include "common/kube/text.h"
#include "operator/decide/names.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

namespace bridge::slinky {

namespace {

bool has_ended(const Worker &worker)
{
    return worker.phase == "Succeeded" || worker.phase == "Failed";
}

bool is_asked(const Worker &worker)
{
    return worker.request && worker.request->drain;
}

std::string annotation(const Worker &worker, const char *name)
{
    auto found = worker.meta.annotations.find(name);
    return found == worker.meta.annotations.end() ? "" : found->second;
}

bool has_jobs(const Worker &worker)
{
    auto found = worker.meta.labels.find(names::protect_label);
    return found != worker.meta.labels.end() && found->second == "true";
}

std::int64_t deadline(const Worker &worker)
{
    auto time = parse_time(annotation(worker, names::deadline_annotation));
    return time ? time->time_since_epoch().count()
                : std::numeric_limits<std::int64_t>::max();
}

// Smaller goes first. Who was asked stays asked, so that the choice does not
// wander while nodes drain.
auto cost(const NodeSet &set, const Worker &worker)
{
    auto given = whole_number<std::int32_t>(
        annotation(worker, names::deletion_cost_annotation));
    std::int64_t ordinal = ordinal_of(set, worker.meta.key.name).value_or(0);
    return std::tuple(!is_asked(worker), !worker.node.empty(),
                      worker.phase == "Running", worker.ready, has_jobs(worker),
                      given.value_or(0), deadline(worker), -ordinal,
                      worker.meta.key.name);
}

// Which of those that live are too many.
std::vector<const Worker *> cheapest(const NodeSet &set,
                                     std::vector<const Worker *> alive,
                                     std::size_t count)
{
    std::ranges::sort(alive, {},
                      [&](const Worker *worker) { return cost(set, *worker); });
    alive.resize(std::min(count, alive.size()));
    return alive;
}

std::vector<std::uint32_t>
free_ordinals(const NodeSet &set, const std::vector<const Worker *> &workers,
              std::size_t count)
{
    std::set<std::string> taken;
    for (const Worker *worker : workers)
        taken.insert(worker->meta.key.name);
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; found.size() < std::min(count, most_steps); i++)
        if (!taken.contains(worker_name(set, i)))
            found.push_back(i);
    return found;
}

void settle(const Worker &worker, bool goes, Now now, ScalePlan &plan)
{
    bool drained = is_drained(worker, now);
    bool too_old = has_answered(worker) && !drained;
    if (!goes && is_asked(worker))
        plan.release.push_back(&worker);
    else if (goes && (!is_asked(worker) || too_old))
        plan.ask.push_back(&worker);
    else if (goes && drained)
        plan.remove.push_back(&worker);
    if (goes && !drained)
        plan.waiting.push_back(worker.meta.key.name);
}

void bound(std::vector<const Worker *> &steps)
{
    steps.resize(std::min(steps.size(), most_steps));
}

} // namespace

std::vector<const Worker *> workers_of(const Known &known, const NodeSet &set)
{
    std::vector<const Worker *> found;
    auto from = known.workers.lower_bound({set.meta.key.ns, ""});
    for (auto i = from;
         i != known.workers.end() && i->first.ns == set.meta.key.ns; i++)
        if (!set.meta.uid.empty() && i->second.meta.controller == set.meta.uid)
            found.push_back(&i->second);
    return found;
}

bool is_alive(const Worker &worker)
{
    return !worker.meta.deleting && !has_ended(worker);
}

bool has_answered(const Worker &worker)
{
    return is_asked(worker) && worker.answer &&
           worker.answer->uid == worker.meta.uid &&
           worker.answer->request == worker.request->number;
}

bool is_drained(const Worker &worker, Now now)
{
    return has_answered(worker) && is_recent(*worker.answer, now);
}

std::uint64_t next_request(const Worker &worker)
{
    return worker.request ? worker.request->number + 1 : 1;
}

ScalePlan plan_scale(const NodeSet &set,
                     const std::vector<const Worker *> &workers,
                     std::size_t wanted, Now now)
{
    ScalePlan plan;
    std::vector<const Worker *> alive;
    std::size_t returning = 0;
    for (const Worker *worker : workers) {
        if (is_alive(*worker))
            alive.push_back(worker);
        else if (!is_asked(*worker))
            returning++;
        if (has_ended(*worker) && !worker->meta.deleting)
            plan.remove.push_back(worker);
    }
    auto many = alive.size() > wanted ? alive.size() - wanted : 0;
    auto going = cheapest(set, alive, many);
    for (const Worker *worker : alive)
        settle(*worker, std::ranges::contains(going, worker), now, plan);
    if (alive.size() + returning < wanted)
        plan.create =
            free_ordinals(set, workers, wanted - alive.size() - returning);
    for (auto *steps : {&plan.ask, &plan.release, &plan.remove})
        bound(*steps);
    return plan;
}

} // namespace bridge::slinky
