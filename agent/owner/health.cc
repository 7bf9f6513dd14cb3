// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/health.h"

#include "common/base/log.h"

#include <format>

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

std::string Health::metrics() const
{
    std::string text =
        "# HELP slurmk8sd_actions_total Actions for gangs, by result.\n"
        "# TYPE slurmk8sd_actions_total counter\n";
    for (const auto &[key, count] : actions_)
        text += std::format(
            "slurmk8sd_actions_total{{action=\"{}\",result=\"{}\"}} {}\n",
            key.first, key.second, count);
    text += "# HELP slurmk8sd_events_total Events that the agent received.\n"
            "# TYPE slurmk8sd_events_total counter\n";
    for (const auto &[what, count] : counts_)
        text += std::format("slurmk8sd_events_total{{event=\"{}\"}} {}\n", what,
                            count);
    text += std::format("# HELP slurmk8sd_problems Problems at the moment.\n"
                        "# TYPE slurmk8sd_problems gauge\n"
                        "slurmk8sd_problems {}\n",
                        problems_.size());
    return text;
}

} // namespace bridge
