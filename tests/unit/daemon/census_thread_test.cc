// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/census_thread.h"
#include "common/base/read_file.h"
#include "tests/unit/fakes/temporary_directory.h"
#include "tests/unit/metrics/counted.h"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <string>
#include <thread>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

// A slurmctld that has one job: it runs, and ends when ended is set.
class OneJob : public SlurmCensus {
  public:
    std::atomic<bool> ended = false;
    std::atomic<int> lists = 0;

    Result<std::optional<NodeCensus>> count_nodes(std::int64_t) override
    {
        return std::nullopt;
    }
    Result<std::vector<CountedPartition>> count_partitions() override
    {
        return {};
    }
    Result<>
    count_jobs(const std::function<void(const CountedJob &)> &visit) override
    {
        visit(ended ? ended_job(7, 1100, 1160) : running_job(7, 1100));
        lists++;
        return {};
    }
    Result<SchedulerCensus> ask_scheduler() override { return {}; }
    Result<CensusConf> ask_conf() override { return {}; }
    Result<std::vector<CountedReservation>> count_reservations() override
    {
        return {};
    }
    Result<std::vector<CountedLicense>> count_licenses() override { return {}; }
    Result<std::vector<CountedAssociation>> count_associations() override
    {
        return {};
    }
};

bool wait_until(const auto &condition)
{
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!condition() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(10ms);
    return condition();
}

} // namespace

TEST_CASE("what an agent has counted is in its file before it counts again, so "
          "that a kill takes nothing back")
{
    TemporaryDirectory directory;
    const std::string file = directory.path + "/job-history";
    OneJob slurm;
    SlurmMetrics metrics;
    CensusThread thread(slurm, metrics, 1s, false, file);
    REQUIRE(wait_until([&] { return slurm.lists > 0; }));
    slurm.ended = true;
    const int lists = slurm.lists;
    // One list may have been under way, the next had the end.
    REQUIRE(wait_until([&] { return slurm.lists > lists + 2; }));
    JobHistory kept;
    REQUIRE(kept.restore(read_file(file, 1 << 20).value()));
    MetricText text(MetricFormat::prometheus);
    kept.begin_list();
    kept.end_list();
    kept.write(text);
    CHECK(std::move(text).finish().contains(
        "slurm_jobs_ended_total{partition=\"main\","
        "state=\"completed\"} 1\n"));
}
