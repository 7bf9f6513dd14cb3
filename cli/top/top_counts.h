// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmk8s top makes of the agent's counters: how many jobs start and end
// in a minute, and how long they have waited. Pure.
#pragma once

#include "common/metrics/sample_text.h"

#include <chrono>
#include <deque>
#include <map>
#include <optional>

namespace bridge {

// The counters, as they were when slurmctld was last asked.
struct TopCounts {
    std::chrono::sys_seconds taken{};
    double started = 0;
    double ended = 0;
    // By the bound in seconds: how many jobs had waited at most that long.
    std::map<double, double> waited;
};

// Nothing if the page has no numbers of Slurm.
std::optional<TopCounts> top_counts(const Samples &metrics);

struct TopFlow {
    double started = 0; // in a minute
    double ended = 0;
    std::chrono::seconds span{}; // in which they were counted
};

struct TopWait {
    double median = 0;   // seconds
    bool longer = false; // or more: it is beyond the last bound
    // In which the jobs have started; nothing: since the agent counts.
    std::optional<std::chrono::seconds> span;
};

// The counts of the last five minutes. A value.
class TopHistory {
  public:
    // Those before are forgotten if a counter is less than it was: another
    // agent counts, or the same one anew. Counts of the same time change
    // nothing.
    void add(const TopCounts &counts);

    // Nothing before there are counts of two times.
    std::optional<TopFlow> flow() const;
    // Of the jobs that have started between these, or else of all. Nothing if
    // none has ever started.
    std::optional<TopWait> wait() const;

  private:
    std::deque<TopCounts> counts_; // the oldest first
};

} // namespace bridge
