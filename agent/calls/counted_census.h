// SPDX-License-Identifier: GPL-2.0-or-later
// A SlurmCensus whose calls are counted.
#pragma once

#include "agent/calls/call_counts.h"
#include "common/slurm/census.h"

#include <chrono>

namespace bridge {

class CountedCensus : public SlurmCensus {
  public:
    // Both must outlive this.
    CountedCensus(SlurmCensus &slurm, CallCounts &counts)
        : slurm_(slurm), counts_(counts)
    {
    }

    Result<std::optional<NodeCensus>> count_nodes(std::int64_t as_of) override
    {
        return counts_.slurm("count_nodes",
                             [&] { return slurm_.count_nodes(as_of); });
    }
    Result<std::vector<CountedPartition>> count_partitions() override
    {
        return counts_.slurm("count_partitions",
                             [&] { return slurm_.count_partitions(); });
    }
    Result<>
    count_jobs(const std::function<void(const CountedJob &)> &visit) override
    {
        using Clock = std::chrono::steady_clock;
        std::chrono::nanoseconds ours{};
        auto timed = [&](const CountedJob &job) {
            auto begin = Clock::now();
            visit(job);
            ours += Clock::now() - begin;
        };
        return counts_.slurm(
            "count_jobs", [&] { return slurm_.count_jobs(timed); }, ours);
    }
    Result<SchedulerCensus> ask_scheduler() override
    {
        return counts_.slurm("ask_scheduler",
                             [&] { return slurm_.ask_scheduler(); });
    }
    Result<CensusConf> ask_conf() override
    {
        return counts_.slurm("ask_conf", [&] { return slurm_.ask_conf(); });
    }
    Result<std::vector<CountedReservation>> count_reservations() override
    {
        return counts_.slurm("count_reservations",
                             [&] { return slurm_.count_reservations(); });
    }
    Result<std::vector<CountedLicense>> count_licenses() override
    {
        return counts_.slurm("count_licenses",
                             [&] { return slurm_.count_licenses(); });
    }
    Result<std::vector<CountedAssociation>> count_associations() override
    {
        return counts_.slurm("count_associations",
                             [&] { return slurm_.count_associations(); });
    }

  private:
    SlurmCensus &slurm_;
    CallCounts &counts_;
};

} // namespace bridge
