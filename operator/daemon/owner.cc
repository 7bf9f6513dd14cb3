// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/owner.h"

#include "common/base/log.h"
#include "operator/decide/jwks.h"
#include "operator/decide/site_files.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace bridge::slinky {

namespace {

using namespace std::chrono_literals;

constexpr auto gather = 20ms;     // news that come together
constexpr auto idle = 5s;         // looks again also without news
constexpr auto longest_wait = 2s; // for the watch to tell of a step
constexpr auto stuck = 120s;

bool is_told(const Known &known, const Seen &seen)
{
    auto found = known.workers.find(seen.pod);
    return (found == known.workers.end() ? "" : found->second.meta.version) !=
           seen.version;
}

// As its status says it: that is made of the Pods, and kubectl shows the same.
Metrics::Set counts_of(const NodeSet &set)
{
    auto count = [&](const char *field) {
        return static_cast<std::uint64_t>(
            std::max<std::int64_t>(set.status.integer(field).value_or(0), 0));
    };
    return {set.meta.key.ns,
            set.meta.key.name,
            {{"desired", count("desired")},
             {"current", count("replicas")},
             {"ready", count("readyReplicas")},
             {"available", count("availableReplicas")},
             {"updated", count("updatedReplicas")}},
            {{"idle", count("slurmIdle")},
             {"allocated", count("slurmAllocated")},
             {"down", count("slurmDown")},
             {"drain", count("slurmDrain")}}};
}

} // namespace

void Owner::run()
{
    while (hear(next_round()) && !parts_.leader.is_lost()) {
        looked_ = Clock::now();
        publish();
        bool may = parts_.leader.may_write(Clock::now());
        if (may && changed_ &&
            store_.complete.size() >= parts_.watches.count()) {
            changed_ = false;
            round();
        }
        parts_.lanes.tidy(Clock::now());
    }
}

Clock::time_point Owner::next_round()
{
    auto now = Clock::now();
    std::erase_if(awaited_, [&](const auto &entry) {
        return entry.second.until <= now; // nothing more is awaited
    });
    auto next = std::min(now + idle, rests_.next_end(now).value_or(now + idle));
    for (const auto &[uid, awaited] : awaited_)
        next = std::min(next, awaited.until);
    return next;
}

// Waits for news, and takes all that come within a moment.
bool Owner::hear(Clock::time_point deadline)
{
    auto news = parts_.mailbox.pop_until(deadline);
    changed_ |= !news;
    if (!news)
        return true;
    auto end = Clock::now() + gather;
    while (news) {
        if (std::holds_alternative<Stop>(*news))
            return false;
        if (auto *made = std::get_if<Acted>(&*news)) {
            heard(std::move(*made));
            changed_ = true;
        } else {
            changed_ |= store_.hear(std::move(*news));
        }
        news = parts_.mailbox.pop_until(end);
    }
    return true;
}

void Owner::heard(Acted made)
{
    const std::string &uid = made.about.uid;
    auto now = Clock::now();
    under_way_.erase(uid);
    parts_.lanes.finished(made.about.key.ns);
    if (!made.seen.empty())
        awaited_[uid] = {std::move(made.seen), now + longest_wait};
    if (!made.failures.empty())
        rests_.failed(made.about, std::move(made.failures), now);
    else if (!made.rests)
        rests_.succeeded(uid);
}

// Whether the last steps of this object are made, and can be seen.
bool Owner::is_news(const std::string &uid, Clock::time_point now)
{
    if (under_way_.contains(uid))
        return false;
    auto found = awaited_.find(uid);
    if (found == awaited_.end())
        return true;
    bool told = std::ranges::all_of(found->second.seen, [&](const Seen &seen) {
        return is_told(store_.known, seen);
    });
    if (!told && now < found->second.until)
        return false;
    awaited_.erase(found);
    return true;
}

template <class Decide>
void Owner::look_at(const std::string &kind, const Meta &meta, Decide decide)
{
    auto now = Clock::now();
    if (!is_news(meta.uid, now))
        return;
    const Failures &before = rests_.failures(meta.uid);
    bool rests = rests_.holds(meta, now);
    std::vector<Step> steps = decide(before);
    if (rests) // a status that could not be written rests, too
        std::erase_if(steps, [&](const Step &step) {
            return !step.is_report || before.contains(step.what);
        });
    if (!steps.empty()) {
        under_way_.insert(meta.uid);
        parts_.lanes.begin({{kind, meta}, std::move(steps), before, rests});
    } else if (!rests) {
        rests_.succeeded(meta.uid);
    }
}

void Owner::round()
{
    auto now = std::chrono::floor<std::chrono::seconds>(
        std::chrono::system_clock::now());
    const Known &known = store_.known;
    for (const auto &[key, controller] : known.controllers)
        if (!controller.external && names_files(controller))
            parts_.watches.watch_files(key.ns);
    for (const auto &[key, object] : known.unserved)
        if (names_jwks(object.spec))
            parts_.watches.watch_files(object.meta.key.ns);
    for (const auto &[key, controller] : known.controllers)
        look_at("Controller", controller.meta, [&](const Failures &before) {
            return decide_controller(known, controller, before, now);
        });
    for (const auto &[key, set] : known.node_sets)
        look_at("NodeSet", set.meta, [&](const Failures &before) {
            return decide_node_set(known, set, before, now);
        });
    for (const auto &[key, object] : known.unserved)
        look_at(object.kind, object.meta, [&](const Failures &before) {
            return decide_unserved(known, object, before, now);
        });
    forget_gone();
}

void Owner::forget_gone()
{
    if (rests_.size() == 0)
        return;
    std::set<std::string> uids;
    const Known &known = store_.known;
    for (const auto &[key, object] : known.controllers)
        uids.insert(object.meta.uid);
    for (const auto &[key, object] : known.node_sets)
        uids.insert(object.meta.uid);
    for (const auto &[key, object] : known.unserved)
        uids.insert(object.meta.uid);
    rests_.keep([&](const std::string &uid) { return uids.contains(uid); });
}

void Owner::publish()
{
    const Known &known = store_.known;
    parts_.metrics.set_objects("Controller", known.controllers.size());
    parts_.metrics.set_objects("NodeSet", known.node_sets.size());
    parts_.metrics.set_objects("Pod", known.workers.size());
    const bool leads = parts_.leader.may_write(Clock::now());
    std::vector<Metrics::Set> sets; // of one operator, so that sums are right
    if (leads)
        for (const auto &[key, set] : known.node_sets)
            sets.push_back(counts_of(set));
    parts_.metrics.set_node_sets(std::move(sets));
    parts_.metrics.set({leads, store_.failing.size(), rests_.size()});
    std::lock_guard lock(mutex_);
    not_ready_ = store_.complete.size() < parts_.watches.count()
                     ? "the first lists are not complete"
                     : "";
    for (const auto &[watch, why] : store_.failing)
        not_ready_ += (not_ready_.empty() ? "" : "\n") + why;
}

std::string Owner::healthz() const
{
    return Clock::now() - looked_.load() < stuck
               ? ""
               : "the owner thread does not answer";
}

std::string Owner::readyz() const
{
    std::lock_guard lock(mutex_);
    return not_ready_;
}

} // namespace bridge::slinky
