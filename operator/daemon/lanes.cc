// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/lanes.h"

#include "common/base/log.h"

#include <exception>
#include <utility>

namespace bridge::slinky {

namespace {

constexpr std::chrono::minutes longest_idle{1};

// Whether a step that failed is one that became needless: the object was
// changed by somebody else meanwhile, and is to be looked at again.
bool was_overtaken(const Step &step, const Error &error)
{
    return error.code == Code::conflict &&
           (step.verb != Step::Verb::create || step.may_exist);
}

void make_step(Actor &actor, const Work &work, const Step &step,
               const std::stop_token &stop, Acted &made)
{
    if (step.seen)
        made.seen.push_back(*step.seen);
    auto done = actor.act(step, work.about);
    if (done || was_overtaken(step, done.error()) || stop.stop_requested())
        return;
    const std::string &why = done.error().message;
    made.failures[step.what] = why;
    auto before = work.before.find(step.what);
    if (before == work.before.end() || before->second != why)
        actor.complain(step, work.about, why);
}

Acted make(Actor &actor, const Work &work, const std::stop_token &stop)
{
    Acted made{work.about.meta, work.rests, {}, {}};
    for (const Step &step : work.steps)
        if ((made.failures.empty() || step.is_report) && actor.may_act() &&
            !stop.stop_requested())
            make_step(actor, work, step, stop, made);
    return made;
}

} // namespace

Lanes::Lanes(Parts parts) : parts_(std::move(parts))
{
    parts_.endpoint.give_up = stop_.get_token();
}

void Lanes::begin(Work work)
{
    auto &lane = lanes_[work.about.meta.key.ns];
    if (!lane) {
        lane = std::make_unique<Lane>();
        lane->thread = std::jthread([this, &lane = *lane] { run(lane); });
    }
    lane->pending++;
    lane->work.push(std::move(work));
}

void Lanes::run(Lane &lane)
{
    Actor actor(parts_.endpoint, parts_.leader, parts_.metrics,
                parts_.instance);
    auto stop = stop_.get_token();
    while (auto work = lane.work.pop()) {
        if (stop.stop_requested())
            return;
        Acted made{work->about.meta, work->rests, {}, {}};
        try {
            made = make(actor, *work, stop);
        } catch (const std::exception &e) { // such as out of memory
            made.failures["make the steps"] = e.what();
        }
        parts_.mailbox.push(std::move(made));
    }
}

void Lanes::finished(const std::string &ns)
{
    auto found = lanes_.find(ns);
    if (found == lanes_.end())
        return;
    found->second->pending--;
    found->second->since = Clock::now();
}

void Lanes::tidy(Clock::time_point now)
{
    std::erase_if(lanes_, [&](auto &entry) {
        Lane &lane = *entry.second;
        bool over = lane.pending == 0 && now - lane.since > longest_idle;
        if (over)
            lane.work.close();
        return over;
    });
}

void Lanes::stop()
{
    stop_.request_stop();
    for (auto &[ns, lane] : lanes_)
        lane->work.close();
    lanes_.clear();
}

} // namespace bridge::slinky
