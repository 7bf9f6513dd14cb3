// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/owner.h"

#include "common/base/backoff.h"
#include "common/base/log.h"

#include <chrono>
#include <utility>

namespace bridge::slinky {

namespace {

using namespace std::chrono_literals;

constexpr auto gather = 20ms;       // news that come together
constexpr auto idle = 5s;           // looks again also without news
constexpr auto first_retry = 500ms; // doubled with each round that fails
constexpr auto last_retry = 30000ms;
constexpr auto stuck = 120s; // a request takes 30 s at most

} // namespace

void Owner::run()
{
    while (hear(next_round()) && !parts_.leader.is_lost()) {
        looked_ = Clock::now();
        publish();
        bool may = parts_.leader.may_write(Clock::now());
        if (may && store_.complete.size() >= parts_.watches)
            round();
    }
}

Clock::time_point Owner::next_round()
{
    if (failed_rounds_ == 0)
        return Clock::now() + idle;
    return Clock::now() + doubled<std::chrono::milliseconds>(
                              first_retry, last_retry, failed_rounds_ - 1);
}

// Waits for news, and takes all that come within a moment.
bool Owner::hear(Clock::time_point deadline)
{
    auto news = parts_.mailbox.pop_until(deadline);
    if (!news)
        return true;
    auto end = Clock::now() + gather;
    while (news) {
        if (std::holds_alternative<Stop>(*news))
            return false;
        store_.hear(std::move(*news));
        news = parts_.mailbox.pop_until(end);
    }
    return true;
}

void Owner::round()
{
    auto now = std::chrono::floor<std::chrono::seconds>(
        std::chrono::system_clock::now());
    auto before = std::exchange(failures_, {});
    for (const auto &[key, controller] : store_.known.controllers)
        make(controller.meta.uid, controller.meta,
             decide_controller(store_.known, controller, now));
    for (const auto &[key, set] : store_.known.node_sets)
        make(set.meta.uid, set.meta,
             decide_node_set(store_.known, set, before[set.meta.uid], now));
    for (const auto &[key, object] : store_.known.unserved)
        make(object.meta.uid, object.meta, decide_unserved(object, now));
    for (const auto &[uid, failures] : failures_)
        for (const auto &[what, why] : failures)
            if (before[uid][what] != why)
                log_warning("a step failed, retrying",
                            {{"step", what}, {"err", why}});
    failed_rounds_ = failures_.empty() ? 0 : failed_rounds_ + 1;
}

void Owner::make(const std::string &uid, const Meta &about,
                 const std::vector<Step> &steps)
{
    for (const Step &step : steps)
        if (auto made = parts_.actor.act(step, about); !made)
            failures_[uid][step.what] = made.error().message;
}

void Owner::publish()
{
    const Known &known = store_.known;
    parts_.metrics.set("objects{kind=\"Controller\"}",
                       known.controllers.size());
    parts_.metrics.set("objects{kind=\"NodeSet\"}", known.node_sets.size());
    parts_.metrics.set("objects{kind=\"Pod\"}", known.workers.size());
    parts_.metrics.set("leader", parts_.leader.may_write(Clock::now()));
    parts_.metrics.set("failing_watches", store_.failing.size());
    parts_.metrics.set("failing_objects", failures_.size());
    std::lock_guard lock(mutex_);
    not_ready_ = store_.complete.size() < parts_.watches
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
