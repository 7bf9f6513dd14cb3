// SPDX-License-Identifier: GPL-2.0-or-later
// What jobs have done since the agent first ran here: how many have ended and
// how, how long they waited and ran. Each start and each end counts once,
// although every list of jobs shows it again for MinJobAge, and the counts
// survive the agent (kept(), restored by the next one). What starts and ends
// while no list is made for longer than MinJobAge is not counted, nor are tasks
// of an array that are cancelled one by one while they wait, since slurmctld
// has no record of them. A job array counts by its tasks. Shadow jobs do not
// count: nobody waits for them. Used by one thread at a time.
#pragma once

#include "common/base/result.h"
#include "common/contract/job_ref.h"
#include "common/metrics/histogram.h"
#include "common/metrics/metric_text.h"
#include "common/slurm/census.h"

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bridge {

class JobHistory {
    struct Ended {
        std::string partition;
        std::string state;
        auto operator<=>(const Ended &) const = default;
    };
    struct Times { // seconds
        Histogram wait;
        Histogram run;
        Times();
    };
    using Queue = std::pair<std::string, std::string>; // partition, QOS

  public:
    // All jobs of a list are shown between begin_list() and end_list(). The
    // first list of all only says what had happened before.
    void begin_list();
    void see(const CountedJob &job);
    void end_list();

    // Writes nothing before the first list of this process has ended: what was
    // restored may be older than what an earlier process has shown, and counts
    // must not go backwards.
    void write(MetricText &text) const;

    // What the next agent must know: a copy that is quick to make.
    class Kept {
      public:
        // Returns it as text, in which JSON has a row for each job.
        std::string encode() const;

      private:
        friend JobHistory;
        struct Job {
            JobId id = 0;
            std::int64_t start = 0;
            std::int64_t end = 0;
        };
        std::map<Ended, std::uint64_t> ended_;
        std::map<Queue, Times> times_;
        std::vector<Job> jobs_; // that have started or ended
    };
    // Nothing before the first list of this process has ended: there is nothing
    // that the file does not have.
    std::optional<Kept> kept() const;

    // Begins with what encode() returned. Code::rejected, with nothing changed,
    // if the text is none of that.
    Result<> restore(std::string_view text);

  private:
    struct Seen {
        std::int64_t start = 0; // that counted, as end; 0: none
        std::int64_t end = 0;
        unsigned list = 0; // the last one in which the job was
    };

    std::uint64_t &ended(const CountedJob &job);
    Times &times_of(const CountedJob &job);

    bool first_ = true;   // no agent has made a list before
    bool listed_ = false; // this one has
    unsigned list_ = 0;
    std::unordered_map<JobId, Seen> seen_;
    std::map<Ended, std::uint64_t> ended_;
    std::map<Queue, Times> times_;
};

} // namespace bridge
