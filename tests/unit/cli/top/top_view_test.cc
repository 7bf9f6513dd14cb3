// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top/top_view.h"

#include "tests/unit/cli/top/top_pages.h"

#include <limits>

using namespace bridge;

TEST_CASE("top shows nodes by state, and rare states only if there is one")
{
    TopView view = top_view(small_pages(), {}, top_now);

    CHECK(view.state == TopState::counted);
    CHECK(view.taken->time_since_epoch().count() == 1'699'999'990);
    std::vector<std::pair<std::string, double>> expected{
        {"in all", 6},  {"allocated", 1}, {"mixed", 1},         {"idle", 3},
        {"drained", 1}, {"down", 1},      {"not responding", 1}};
    CHECK(view.nodes == expected);
}

TEST_CASE("top shows what is used of what there is, by type of GRES")
{
    TopView view = top_view(small_pages(), {}, top_now);

    REQUIRE(view.bars.size() == 4);
    CHECK(view.bars[0].used == 311040);
    CHECK(view.bars[0].total == 320000);
    CHECK(view.bars[1].bytes);
    CHECK(view.bars[1].total == 3.0 * (std::uint64_t{1} << 40));
    CHECK(view.bars[2].name == "gpu:a100");
    CHECK(view.bars[2].used == 12);
    CHECK(view.bars[2].total == 40);
    CHECK(view.bars[3].name == "nic");
    CHECK(view.bars[3].used == 0);
}

TEST_CASE("top shows the queue by kind and by reason, with what it means")
{
    TopView view = top_view(small_pages(), {}, top_now);

    CHECK(view.running == 12);
    CHECK(view.pending == 5);
    CHECK(view.held == 1);
    REQUIRE(view.kinds.size() == 2);
    CHECK(view.kinds[1].name == "Pods");
    CHECK(view.kinds[1].running == 3);
    CHECK(view.kinds[1].pending == 5);
    REQUIRE(view.reasons.size() == 2);
    CHECK(view.reasons[0].reason == "Priority");
    CHECK(view.reasons[0].meaning ==
          "jobs of higher priority wait before it in the partition");
    CHECK(view.reasons[1].jobs == 1);
}

TEST_CASE("top shows partitions with most pending jobs first")
{
    TopView view = top_view(large_pages(), {}, top_now);

    REQUIRE(view.partitions.size() == 200);
    const TopPartition &first = view.partitions.front();
    CHECK(first.name == "part199");
    CHECK(first.nodes == 199);
    CHECK(first.cpus == 199 * 64);
    CHECK(first.cpus_used == 199 * 60);
    CHECK(first.running == 398);
    CHECK(first.pending == 597);
    CHECK(view.partitions.back().name == "part000");
}

TEST_CASE("top shows nodes with a reason, the most recent first, and nothing "
          "that a terminal would obey")
{
    TopView view = top_view(small_pages(), {}, top_now);

    REQUIRE(view.out.size() == 3);
    CHECK(view.out[0].name == "n2");
    CHECK(view.out[0].reason == " ]0;x  L\u00fcfter?");
    CHECK(view.out[0].user == "ops");
    CHECK(view.out[1].reason == "fan fails");
    CHECK(view.out[1].since->time_since_epoch().count() == 1'699'990'000);
    CHECK(view.out[2].reason.empty()); // PrivateData hides it
    CHECK_FALSE(view.out[2].since);
    CHECK(top_view(large_pages(), {}, top_now).out[0].name == "node0999");
}

TEST_CASE("top says what the agent complains of")
{
    MetricText text(MetricFormat::prometheus);
    text.gauge("slurm_up", "x", 1);
    text.gauge("slurmk8sd_problems", "x", 2);
    text.gauge("slurmk8sd_pods_outside_queue", "x", 1);
    text.gauge("slurmk8sd_pods_vanished", "x", 3);
    text.gauge("slurmk8sd_pending_jobs", "x");
    text.add(std::uint64_t{7}, {{"where", "line"}});
    text.add(std::uint64_t{9}, {{"where", "slurm"}});
    text.gauge("slurmk8sd_token_expiry_timestamp_seconds", "x",
               std::uint64_t{1'700'000'200});
    TopPages pages{parsed(std::move(text)), {}, {}};

    TopView view = top_view(pages, {}, top_now);

    std::vector<std::string> expected{
        "2 problems of the agent: see slurmk8s status",
        "one Pod outside the queue: see slurmk8s check",
        "3 Pods deleted by force before the containers had ended",
        "the agent's token for the API server expires in 3 min"};
    CHECK(view.troubles == expected);
    CHECK(view.problems == 2);
    CHECK(view.in_line == 7);
    using std::chrono::minutes;
    CHECK(top_view(pages, {}, top_now - minutes(10)).troubles.size() == 3);
    CHECK(top_view(pages, {}, top_now + minutes(5)).troubles.back() ==
          "the agent's token for the API server has expired");
}

TEST_CASE("without numbers of Slurm top knows why")
{
    MetricText text(MetricFormat::prometheus);
    text.gauge("slurmk8sd_problems", "x", 1);
    CHECK(top_view({parsed(text), {}, "it is on \x1b standby"}, {}, top_now)
              .said == "it is on   standby");
    CHECK(top_view({parsed(text), {}, {}}, {}, top_now).state ==
          TopState::no_numbers);
    text.gauge("slurm_up", "x", 0);

    TopView view = top_view({parsed(std::move(text)), {}, {}}, {}, top_now);

    CHECK(view.state == TopState::slurm_away);
    CHECK(view.troubles.size() == 1);
    CHECK(view.nodes.empty());
    CHECK(top_view_without("a\nb").said == "a b");
    CHECK(top_view_without("a\nb").state == TopState::no_agent);
}

TEST_CASE("numbers that are none do no harm")
{
    MetricText text(MetricFormat::prometheus);
    text.gauge("slurm_up", "x", 1);
    const double infinity = std::numeric_limits<double>::infinity();
    text.gauge("slurm_census_timestamp_seconds", "x", infinity);
    text.gauge("slurm_nodes", "x", -infinity);
    text.gauge("slurm_cpus", "x", std::numeric_limits<double>::quiet_NaN());
    text.gauge("slurm_cpus_alloc", "x", 1e300);

    TopView view = top_view({parsed(std::move(text)), {}, {}}, {}, top_now);

    CHECK(view.taken->time_since_epoch().count() == 253402300799);
    CHECK(view.nodes[0].second == 0);
    CHECK(view.bars[0].total == 0);
    CHECK(view.bars[0].used == 1e18);
}
