// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/health.h"

#include "common/base/log.h"

namespace bridge {

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
    text.gauge("slurmk8sd_problems", "Problems at the moment.",
               problems_.size());
}

} // namespace bridge
