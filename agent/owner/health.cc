// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/health.h"

#include "common/base/log.h"

#include <algorithm>
#include <array>

namespace bridge {

namespace {

constexpr std::array turn_bounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                 0.05,   0.1,   0.25,   0.5,   1.0,  5.0};
// As those of slurm_job_wait_seconds, and finer below: without a queue a Pod is
// bound in milliseconds.
constexpr std::array binding_bounds{
    0.01,   0.025,  0.05,    0.1,     0.25,    0.5,     1.0,
    2.5,    5.0,    10.0,    30.0,    60.0,    300.0,   900.0,
    3600.0, 7200.0, 14400.0, 43200.0, 86400.0, 604800.0};

} // namespace

Health::Health() : turns_(turn_bounds), bindings_(binding_bounds) {}

void Health::time_turn(Clock::duration took)
{
    turns_.add(std::chrono::duration<double>(took).count());
}

// The clock of the API server may be ahead of ours.
void Health::time_binding(std::chrono::duration<double> waited)
{
    bindings_.add(std::max(waited.count(), 0.0));
}

bool Health::set_problem(const std::string &what, const std::string &reason)
{
    std::string &known = problems_[what];
    bool changed = known != reason;
    known = reason;
    return changed;
}

bool Health::clear_problem(const std::string &what)
{
    return problems_.erase(what) != 0;
}

void Health::problem(const std::string &what, const std::string &reason)
{
    if (set_problem(what, reason))
        log_warning("problem", {{"what", what}, {"err", reason}});
}

void Health::solved(const std::string &what)
{
    if (clear_problem(what))
        log_info("problem solved", {{"what", what}});
}

std::string Health::failures(bool standby) const
{
    std::string lines;
    for (const auto &[what, reason] : problems_) {
        bool counts = standby ? what == lease_problem // it has no others
                              : what != nodes_problem && what != newer_problem;
        if (counts)
            lines += what + ": " + reason + "\n";
    }
    return lines;
}

void Health::write_metrics(MetricText &text) const
{
    text.counter("slurmk8sd_actions", "Actions for gangs, by result.");
    for (const auto &[key, count] : actions_)
        text.add(count, {{"action", key.first}, {"result", key.second}});
    text.counter("slurmk8sd_events", "Events that the agent received.");
    for (const auto &[what, count] : counts_)
        text.add(count, {{"event", what}});
    text.histogram("slurmk8sd_turn_seconds",
                   "How long the turns of the thread that decides took.");
    text.add(turns_, {});
    text.histogram("slurmk8sd_pod_binding_seconds",
                   "How long Pods were there before they were bound.");
    text.add(bindings_, {});
}

} // namespace bridge
