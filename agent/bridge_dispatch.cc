// SPDX-License-Identifier: GPL-2.0-or-later
// Hands an action to the workers, a large binding to several of them at once.
#include "agent/bridge.h"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace bridge {

namespace {

constexpr std::size_t part_size = 16; // bindings

// What the workers of one action share.
struct Work {
    Action action;
    Gang gang;
    std::shared_ptr<const Conf> conf;
    Namespace ns;
    std::map<std::string, NodePtr> nodes;
    Owners *owners = nullptr;

    std::atomic<std::size_t> parts{1}; // that are not done yet
    std::mutex mutex;
    Result<Outcome> outcome = Done{}; // the first that went wrong
};

// The action itself, or its bindings in parts: a worker that is busy, or one
// that fails, holds up no more than one of them.
std::vector<Action> parts_of(const Action &action)
{
    const auto *bind = std::get_if<Bind>(&action);
    if (!bind || bind->seats.size() <= part_size)
        return {action};
    std::size_t count = bind->seats.size();
    std::vector<Action> parts;
    for (std::size_t from = 0; from < count; from += part_size) {
        auto begin = bind->seats.begin() + static_cast<std::ptrdiff_t>(from);
        auto end = begin + static_cast<std::ptrdiff_t>(
                               std::min(part_size, count - from));
        parts.push_back(Bind{bind->job, {}, {begin, end}});
    }
    return parts;
}

// How much is known of bindings that went wrong: of unknown outcome says most.
bool worse(const Error &than, const Result<Outcome> &known)
{
    return known || (than.code == Code::uncertain &&
                     known.error().code != Code::uncertain);
}

} // namespace

void Bridge::dispatch(GangEntry &entry, Action action)
{
    entry.in_flight = action.index();
    entry.began = absences_;
    entry.ending_job = std::holds_alternative<Complete>(action) ||
                       std::holds_alternative<Cancel>(action) ||
                       std::holds_alternative<Renew>(action);
    if (std::holds_alternative<Bind>(action)) {
        entry.telling.request_stop();
        entry.telling = {};
        entry.told.clear();
    }
    if (const auto *bind = std::get_if<Bind>(&action))
        hold_devices(*bind);
    if (std::holds_alternative<Look>(action))
        entry.gang.stale = false; // a hint that comes meanwhile sets it again
    auto work = std::make_shared<Work>();
    auto ns = namespaces_.find(entry.gang.key.ns);
    work->ns = ns == namespaces_.end() ? Namespace{entry.gang.key.ns, {}, {}}
                                       : ns->second;
    if (const auto *bind = std::get_if<BindVolumes>(&action))
        for (const Seat &seat : bind->seats)
            if (auto known = nodes_.find(seat.node); known != nodes_.end())
                work->nodes.insert(*known);
    TaskQueue &queue = std::holds_alternative<Submit>(action) ? ports_.submits
                                                              : ports_.workers;
    work->owners = ports_.access.may(Feature::owners) ? &owners_ : nullptr;
    work->gang = entry.gang;
    work->conf = conf_;
    auto parts = parts_of(action);
    work->action = std::move(action);
    work->parts = parts.size();
    for (Action &part : parts)
        queue.push([this, work, part = std::move(part),
                    began = entry.began](Kube &kube) {
            auto kick = [this] {
                ports_.send_hook({.type = HookMessage::Type::kick},
                                 any_plugin);
            };
            auto slurmctld_left = [this, began] { return absences_ != began; };
            Result<Outcome> outcome = fail(Code::internal, "lost");
            try {
                outcome = act(part, work->gang,
                              {ports_.slurm, kube, work->conf, work->ns, kick,
                               work->nodes, work->owners, slurmctld_left});
            } catch (const std::exception &e) {
                outcome = fail(Code::internal, e.what());
            }
            {
                std::lock_guard lock(work->mutex);
                bool counts = outcome ? work->outcome.has_value()
                                      : worse(outcome.error(), work->outcome);
                if (counts)
                    work->outcome = std::move(outcome);
            }
            if (--work->parts == 0)
                mailbox_.push(ActionDone{work->gang.uid, work->action,
                                         std::move(work->outcome)});
        });
}

} // namespace bridge
