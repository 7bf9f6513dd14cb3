// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top/top_counts.h"

#include "common/metrics/metric_text.h"
#include "tests/unit/cli/top/top_pages.h"

#include <array>
#include <initializer_list>

using namespace bridge;

namespace {

constexpr std::array<double, 3> bounds{1, 60, 3600};

// A page of the time that had these waits in all until then.
TopCounts counts_at(std::uint64_t time, std::uint64_t ended,
                    std::initializer_list<double> waits)
{
    MetricText text(MetricFormat::prometheus);
    text.gauge("slurm_census_timestamp_seconds", "x", time);
    text.counter("slurm_jobs_ended", "x");
    text.add(ended, {{"partition", "a"}, {"state", "failed"}});
    text.add(ended, {{"partition", "b"}, {"state", "completed"}});
    text.histogram("slurm_job_wait_seconds", "x");
    Histogram one(bounds), other(bounds);
    for (double wait : waits)
        (wait > 50 ? one : other).add(wait);
    std::array<MetricText::Label, 1> a{{{"partition", "a"}}};
    std::array<MetricText::Label, 1> b{{{"partition", "b"}}};
    text.add(one, a);
    text.add(other, b);
    auto counts = top_counts(parsed(std::move(text)));
    REQUIRE(counts);
    return *counts;
}

} // namespace

TEST_CASE("starts and ends in a minute are those between two reads")
{
    TopHistory history;
    history.add(counts_at(1000, 10, {5, 5}));
    CHECK_FALSE(history.flow());
    history.add(counts_at(1000, 10, {5, 5})); // the same again
    CHECK_FALSE(history.flow());

    history.add(counts_at(1030, 13, {5, 5, 5, 100, 5000}));

    REQUIRE(history.flow());
    CHECK(history.flow()->started == 6);
    CHECK(history.flow()->ended == 12); // of both series
    CHECK(history.flow()->span == std::chrono::seconds(30));
}

TEST_CASE("the median of waiting times is that of the last reads, or of all if "
          "no job has started since")
{
    TopHistory history;
    CHECK_FALSE(history.wait());
    history.add(counts_at(1000, 0, {}));
    CHECK_FALSE(history.wait());
    history.add(counts_at(1030, 0, {0.5, 0.5, 0.5, 0.5}));
    CHECK(history.wait()->median == 0.5); // even within the bucket
    CHECK(history.wait()->span == std::chrono::seconds(30));

    TopHistory later;
    later.add(counts_at(1000, 0, {0.5, 0.5, 0.5, 0.5}));
    CHECK(later.wait()->median == 0.5);
    CHECK_FALSE(later.wait()->span);
    later.add(counts_at(1030, 0, {0.5, 0.5, 0.5, 0.5, 100, 100}));
    CHECK(later.wait()->median == 60 + 3540 / 2.0);
    CHECK(later.wait()->span == std::chrono::seconds(30));
    later.add(
        counts_at(1060, 0, {0.5, 0.5, 0.5, 0.5, 100, 100, 1e6, 1e6, 1e6}));
    CHECK(later.wait()->longer);
    CHECK(later.wait()->median == 3600);
}

TEST_CASE("counts that go back begin anew, and those of five minutes count")
{
    TopHistory history;
    history.add(counts_at(1000, 10, {5}));
    history.add(counts_at(1030, 9, {5}));
    CHECK_FALSE(history.flow());
    history.add(counts_at(1020, 10, {5}));
    CHECK_FALSE(history.flow());

    for (std::uint64_t time = 1050; time < 3000; time += 30)
        history.add(counts_at(time, time, {5}));

    CHECK(history.flow()->span == std::chrono::seconds(300));
    CHECK(history.flow()->ended == 120);
}

TEST_CASE("buckets that make no sense make no median")
{
    auto wait_of = [](const std::string &text) {
        TopHistory history;
        history.add(*top_counts(
            *Samples::parse("slurm_census_timestamp_seconds 1\n" + text)));
        return history.wait();
    };
    CHECK_FALSE(wait_of("slurm_job_wait_seconds_bucket 5\n"));
    CHECK_FALSE(wait_of("slurm_job_wait_seconds_bucket{le=\"x\"} 5\n"));
    CHECK_FALSE(wait_of("slurm_job_wait_seconds_bucket{le=\"nan\"} 5\n"));
    CHECK_FALSE(wait_of("slurm_job_wait_seconds_bucket{le=\"1\"} 5\n"
                        "slurm_job_wait_seconds_bucket{le=\"2\"} -5\n"));
    CHECK(wait_of("slurm_job_wait_seconds_bucket{le=\"1\"} 9\n"
                  "slurm_job_wait_seconds_bucket{le=\"2\"} 3\n"));
    CHECK_FALSE(top_counts(*Samples::parse("slurm_up 0\n")));
}
