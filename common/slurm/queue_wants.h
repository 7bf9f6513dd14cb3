// SPDX-License-Identifier: GPL-2.0-or-later
// Which pending jobs would start if there were more nodes. Slurm says it of the
// first job of each partition alone, by a reason such as "Resources"; the jobs
// behind that one have the reason "Priority". Jobs that are held, depend on
// others, are at a limit or ask for a later time would not start. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace bridge {

struct QueuedJob {
    std::string_view partitions; // separated by commas
    std::uint32_t priority = 0;
    std::string_view reason; // as squeue prints it
};

class QueueWants {
  public:
    // Takes one pending job of any user. All are to be added before the first
    // is asked for.
    void add(const QueuedJob &job);

    // Whether more nodes would let this pending job start: by its own reason,
    // or by that of a job of at least its priority in one of its partitions,
    // behind which it stands.
    bool has(const QueuedJob &job) const;

  private:
    // By partition: the highest priority of those that wait for nodes.
    std::map<std::string, std::uint32_t, std::less<>> highest_;
};

} // namespace bridge
