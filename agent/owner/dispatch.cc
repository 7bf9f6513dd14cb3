// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/dispatch.h"

#include "agent/act/end.h"
#include "agent/act/gang.h"
#include "agent/decide/batch_gang.h"
#include "agent/gang/facts.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>

namespace bridge {

namespace {

constexpr std::size_t part_size = 16; // bindings

// A part of an action, run by one worker.
using Part = std::function<Result<Outcome>(Kube &, const ActContext &)>;

// State shared by the workers of one action.
struct Work {
    Work(Slurm &to_slurm, TaskQueue &workers) : slurm(to_slurm), queue(workers)
    {
    }

    Slurm &slurm;
    TaskQueue &queue;
    Action action;
    Gang gang;
    std::shared_ptr<const Conf> conf;
    Namespace ns;
    std::map<std::string, NodePtr> nodes;
    Owners *owners = nullptr;
    std::function<void()> kick;
    std::function<bool()> slurmctld_left;
    std::function<void(Result<Outcome>)> done;

    // Stages run one after the other until one fails. The parts of a stage run
    // on several workers at once.
    std::deque<std::vector<Part>> stages;
    std::atomic<std::size_t> parts{1}; // parts of the stage not done yet
    std::mutex mutex;
    Result<Outcome> outcome = Done{}; // the most serious failure so far
};

// Splits a binding, so that a busy worker or a failure holds up only one part
// of it.
std::vector<Bind> parts_of(const Bind &bind)
{
    std::size_t count = bind.seats.size();
    if (count <= part_size)
        return {bind};
    std::vector<Bind> parts;
    for (std::size_t from = 0; from < count; from += part_size) {
        auto begin = bind.seats.begin() + static_cast<std::ptrdiff_t>(from);
        auto end = begin + static_cast<std::ptrdiff_t>(
                               std::min(part_size, count - from));
        Bind part{bind.job, {}, {begin, end}};
        for (const ClaimPlan &claim : bind.claims)
            if (std::ranges::contains(part.seats, claim.pod, &Seat::pod))
                part.claims.push_back(claim);
        parts.push_back(std::move(part));
    }
    return parts;
}

// Removes the seat of the Pod that runs a batch job's script from the binding
// and returns it: the script must find its workers running. Nothing if no other
// Pod is in the binding.
std::optional<Bind> split_off_script(const Gang &gang, Bind &bind)
{
    PodPtr script = gang.batch ? script_pod_of(gang) : nullptr;
    if (!script || bind.seats.size() < 2)
        return std::nullopt;
    auto seat = std::ranges::find(bind.seats, script->uid, &Seat::pod);
    if (seat == bind.seats.end())
        return std::nullopt;
    Bind alone{bind.job, {}, {*seat}};
    bind.seats.erase(seat);
    std::erase_if(bind.claims, [&](const ClaimPlan &claim) {
        if (claim.pod != script->uid)
            return false;
        alone.claims.push_back(claim);
        return true;
    });
    return alone;
}

Part part_for(const std::shared_ptr<Work> &work, Action action)
{
    return [gang = &work->gang, action = std::move(action)](
               Kube &kube, const ActContext &context) -> Result<Outcome> {
        if (auto over = check_script_over(action, *gang, kube); !over)
            return std::unexpected(over.error());
        return act(action, *gang, context);
    };
}

Part reserve_part(const std::shared_ptr<Work> &work, Bind bind)
{
    return [gang = &work->gang, bind = std::move(bind)](
               Kube &kube, const ActContext &context) -> Result<Outcome> {
        if (auto placed = check_placed(*gang, context); !placed)
            return std::unexpected(placed.error());
        return reserve_seats(*gang, bind, kube);
    };
}

// If no Pod of a gang is bound yet, all must have their devices before any is
// bound. The script of a batch job is bound after all others.
std::deque<std::vector<Part>> stages_of(const std::shared_ptr<Work> &work)
{
    const auto *bind = std::get_if<Bind>(&work->action);
    std::deque<std::vector<Part>> stages(1);
    if (!bind || !work->gang.grouped) {
        stages.back().push_back(part_for(work, work->action));
        return stages;
    }
    Bind others = *bind;
    auto script = split_off_script(work->gang, others);
    std::vector<Bind> parts = parts_of(others);
    if (script)
        parts.push_back(std::move(*script));
    if (!bind->claims.empty() && count_of_job(work->gang) == 0) {
        for (Bind &part : parts) {
            stages.back().push_back(reserve_part(work, part));
            part.claims.clear();
        }
        stages.emplace_back();
    }
    for (Bind &part : parts) {
        if (script && &part == &parts.back())
            stages.emplace_back();
        stages.back().push_back(part_for(work, std::move(part)));
    }
    return stages;
}

// How serious a failure is; an unknown outcome is the most serious.
int weight(const Result<Outcome> &outcome)
{
    if (outcome)
        return std::holds_alternative<ClaimsRefused>(*outcome) ? 1 : 0;
    return outcome.error().code == Code::uncertain ? 3 : 2;
}

// Returns true when that was the last part of its stage.
bool record_part(Work &work, Result<Outcome> outcome)
{
    {
        std::lock_guard lock(work.mutex);
        int known = weight(work.outcome);
        if (int now = weight(outcome); now > known || (now == 0 && known == 0))
            work.outcome = std::move(outcome);
    }
    return --work.parts == 0;
}

Result<Outcome> run(const Part &part, const Work &work, Kube &kube)
{
    try {
        return part(kube, {work.slurm, kube, work.conf, work.ns, work.kick,
                           work.nodes, work.owners, work.slurmctld_left});
    } catch (const std::exception &e) {
        return fail(Code::internal, e.what());
    }
}

// Called on the owner thread, and then on the worker that ends the previous
// stage.
void push_stage(const std::shared_ptr<Work> &work)
{
    std::vector<Part> parts = std::move(work->stages.front());
    work->stages.pop_front();
    work->parts = parts.size();
    for (Part &part : parts)
        work->queue.push(
            [work, part = std::move(part)](Kube &kube) {
                if (!record_part(*work, run(part, *work, kube)))
                    return;
                if (weight(work->outcome) == 0 && !work->stages.empty())
                    push_stage(work);
                else
                    work->done(std::move(work->outcome));
            },
            work->gang.key.ns);
}

} // namespace

void Dispatch::begin(GangEntry &entry, Action action)
{
    entry.in_flight = action.index();
    entry.began = to_.line.absences();
    entry.ending_job = ends_job(action);
    if (const auto *bind = std::get_if<Bind>(&action)) {
        to_.voice.hush(entry);
        to_.devices.reserve(entry.gang.uid, *bind);
    }
    if (std::holds_alternative<Look>(action))
        entry.gang.stale = false; // a hint that comes meanwhile sets it again
    bool submits = std::holds_alternative<Submit>(action);
    auto work = std::make_shared<Work>(to_.context.ports.slurm,
                                       submits ? to_.context.ports.submits
                                               : to_.context.ports.workers);
    auto ns = to_.namespaces.find(entry.gang.key.ns);
    work->ns = ns == to_.namespaces.end() ? Namespace{entry.gang.key.ns, {}, {}}
                                          : ns->second;
    if (const auto *bind = std::get_if<BindVolumes>(&action))
        for (const Seat &seat : bind->seats)
            if (NodePtr known = to_.nodes.at(seat.node))
                work->nodes.emplace(seat.node, std::move(known));
    work->owners =
        to_.context.ports.access.may(Feature::owners) ? &owners_ : nullptr;
    work->gang = entry.gang;
    work->conf = to_.context.conf;
    work->action = std::move(action);
    work->kick = to_.het_jobs.is_quiet(entry.gang) ? [] {} : to_.line.kicker();
    work->slurmctld_left = to_.line.left_since(entry.began);
    work->done =
        [shared = work.get(),
         tell = to_.errands.messenger<ActionDone>()](Result<Outcome> outcome) {
            tell({shared->gang.uid, shared->action, std::move(outcome)});
        };
    work->stages = stages_of(work);
    push_stage(work);
}

} // namespace bridge
