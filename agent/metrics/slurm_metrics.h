// SPDX-License-Identifier: GPL-2.0-or-later
// What the pages know of Slurm: the last census of it, taken by one thread and
// written by others. While slurmctld does not answer there are no numbers of
// it, rather than old ones; what jobs have done before is still counted. What
// PrivateData hides from users is left out for readers without a token. May be
// used by every thread.
#pragma once

#include "agent/metrics/job_history.h"
#include "agent/metrics/people.h"
#include "agent/metrics/slurm_numbers.h"
#include "agent/metrics/user_names.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace bridge {

// All that slurmctld has said, at one moment.
struct SlurmSnapshot {
    std::chrono::sys_seconds taken{};
    SlurmNumbers numbers;
    SchedulerCensus scheduler;
    CensusConf conf;
    std::vector<CountedReservation> reservations;
    std::vector<CountedLicense> licenses;
    std::optional<People> people; // with MetricsUsers
    UserNames users;              // of reasons of nodes, and of people
};

// Who reads a page.
enum class MetricsReader {
    anyone,  // who is not told what PrivateData hides from users
    trusted, // who is told everything
};

class SlurmMetrics {
  public:
    // nullptr: slurmctld does not answer.
    void set(std::shared_ptr<const SlurmSnapshot> snapshot);
    // Calls a function of the history, which may change it, and returns what
    // that returns. Pages wait meanwhile.
    template <class Function> auto change(Function function)
    {
        std::lock_guard lock(mutex_);
        counts_ = true;
        return function(history_);
    }

    // Writes nothing until the first census has begun.
    void write(MetricText &text, MetricsReader reader) const;
    // What is costly or personal: series for each node, who drained it, and
    // people. Nothing while slurmctld does not answer.
    void write_detail(MetricText &text, MetricsReader reader) const;

  private:
    std::shared_ptr<const SlurmSnapshot> snapshot() const;

    mutable std::mutex mutex_; // guards the below
    std::shared_ptr<const SlurmSnapshot> snapshot_;
    JobHistory history_;
    bool counts_ = false;
};

} // namespace bridge
