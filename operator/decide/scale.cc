// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/scale.h"

#include "common/base/text.h"
#include "common/contract/worker_names.h"
#include "common/kube/text.h"
#include "operator/decide/names.h"
#include "operator/decide/update.h"

#include <algorithm>
#include <iterator>
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
auto cost(const NodeSet &set, const Worker &worker, const std::string &revision)
{
    bool outdated = !revision.empty() && is_outdated(worker, revision);
    auto given = whole_number<std::int32_t>(
        annotation(worker, names::deletion_cost_annotation));
    std::int64_t ordinal = ordinal_of(set, worker.meta.key.name).value_or(0);
    return std::tuple(!is_asked(worker), !worker.node.empty(),
                      worker.phase == "Running", worker.ready, has_jobs(worker),
                      given.value_or(0), deadline(worker), !outdated, -ordinal,
                      worker.meta.key.name);
}

using Names = std::set<std::string>;

std::vector<Slot> free_slots(const NodeSet &set, const Names &taken,
                             const Wish &wish, std::size_t count)
{
    std::vector<Slot> found;
    for (std::uint32_t i = 0; found.size() < std::min(count, most_steps); i++) {
        Slot slot = slot_of(set, i);
        if (taken.contains(slot.pod))
            continue;
        if (auto pin = wish.pins.find(std::to_string(i));
            pin != wish.pins.end())
            slot.node = pin->second;
        found.push_back(std::move(slot));
    }
    return found;
}

std::vector<Slot> missing_slots(const Names &taken, const Wish &wish)
{
    std::vector<Slot> found;
    for (const auto &[pod, slot] : wish.places->slots)
        if (!taken.contains(pod) && found.size() < most_steps)
            found.push_back(slot);
    return found;
}

// A Pod that is not wanted however many there are: of the other mode, or on a
// Node that does not fit.
bool is_misplaced(const NodeSet &set, const Worker &worker, const Wish &wish)
{
    auto mode = worker.meta.labels.find(names::scaling_mode_label);
    if (mode != worker.meta.labels.end() && mode->second != scaling_mode(set))
        return true;
    if (!wish.places)
        return false;
    auto slot = wish.places->slots.find(worker.meta.key.name);
    return slot == wish.places->slots.end() ||
           (!worker.node.empty() && worker.node != slot->second.node);
}

enum class Fate { stays, returns, goes, goes_for_good };

void settle(const Worker &worker, Fate fate, Now now, ScalePlan &plan)
{
    bool drained = is_drained(worker, now);
    bool too_old = has_answered(worker) && !drained;
    bool for_good = fate == Fate::goes_for_good;
    bool asked = is_asked(worker) && worker.for_good == for_good;
    if (fate == Fate::stays) {
        if (is_asked(worker))
            plan.release.push_back(&worker);
    } else if (!asked || too_old) {
        plan.ask.push_back(&worker);
        if (for_good)
            plan.for_good.insert(&worker);
    } else if (drained) {
        plan.remove.push_back(&worker);
    }
}

// A Pod that is being deleted because the NodeSet was to have fewer does not
// come back; one that was replaced does, by its name.
bool comes_back(const Worker &worker, const Wish &wish)
{
    return !is_asked(worker) ||
           (!wish.revision.empty() && is_outdated(worker, wish.revision));
}

bool is_forgotten(const Worker &worker, const Wish &wish)
{
    return wish.forget &&
           !(wish.places && wish.places->mapped.contains(worker.meta.key.name));
}

struct SortedOut {
    std::vector<const Worker *> alive; // of those that may stay
    std::vector<const Worker *> going; // and of the others
    Names taken;
    std::size_t returning = 0; // are ending, and come back by their names
};

SortedOut sorted_out(const NodeSet &set,
                     const std::vector<const Worker *> &workers,
                     const Wish &wish)
{
    SortedOut out;
    for (const Worker *worker : workers) {
        out.taken.insert(worker->meta.key.name);
        bool misplaced = is_misplaced(set, *worker, wish);
        if (is_alive(*worker))
            (misplaced ? out.going : out.alive).push_back(worker);
        else if (!misplaced && comes_back(*worker, wish))
            out.returning++;
    }
    return out;
}

std::vector<std::string> undrained(const std::vector<const Worker *> &workers,
                                   Now now)
{
    std::vector<std::string> found;
    for (const Worker *worker : workers)
        if (!is_drained(*worker, now))
            found.push_back(worker->meta.key.name);
    std::ranges::sort(found);
    return found;
}

void bound(std::vector<const Worker *> &steps)
{
    steps.resize(std::min(steps.size(), most_steps));
}

} // namespace

std::vector<const NodeSet *> sets_of(const Known &known,
                                     const Controller &controller)
{
    std::vector<const NodeSet *> sets;
    for (const auto &[key, set] : known.node_sets)
        if (key.ns == controller.meta.key.ns &&
            set.controller == controller.meta.key.name)
            sets.push_back(&set);
    return sets;
}

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
                     const Wish &wish, Now now)
{
    ScalePlan plan;
    auto [alive, going, taken, returning] = sorted_out(set, workers, wish);
    std::ranges::copy_if(
        workers, std::back_inserter(plan.remove), [](const Worker *worker) {
            return has_ended(*worker) && !worker->meta.deleting;
        });
    std::size_t wanted = wish.wanted;
    if (wish.places)
        plan.create = missing_slots(taken, wish);
    else if (alive.size() + returning < wanted)
        plan.create =
            free_slots(set, taken, wish, wanted - alive.size() - returning);

    std::ranges::sort(alive, {}, [&set, &wish](const Worker *worker) {
        return cost(set, *worker, wish.revision);
    });
    // First those that are too many: who was asked for an update is among them.
    std::size_t many = alive.size() - std::min(alive.size(), wanted);
    if (wish.places)
        many = 0;
    going.insert(going.end(), alive.begin(),
                 alive.begin() + std::ptrdiff_t(many));
    std::vector rest(alive.begin() + std::ptrdiff_t(many), alive.end());
    auto updated = wish.update
                       ? to_update(set, rest, wanted, wish.revision, now)
                       : std::vector<const Worker *>{};
    auto settle_all = [&](const auto &those, Fate fate) {
        for (const Worker *worker : those)
            settle(*worker, fate, now, plan);
    };
    for (const Worker *worker : going)
        settle(*worker,
               is_forgotten(*worker, wish) ? Fate::goes_for_good : Fate::goes,
               now, plan);
    std::erase_if(rest, [&](const Worker *worker) {
        return std::ranges::contains(updated, worker);
    });
    settle_all(updated, Fate::returns);
    settle_all(rest, Fate::stays);
    plan.waiting = undrained(going, now);
    plan.updating = undrained(updated, now);
    for (auto *steps : {&plan.ask, &plan.release, &plan.remove})
        bound(*steps);
    return plan;
}

} // namespace bridge::slinky
