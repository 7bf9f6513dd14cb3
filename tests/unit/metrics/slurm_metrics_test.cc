// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/metrics/slurm_metrics.h"
#include "tests/unit/metrics/counted.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <utility>

using namespace bridge;

namespace {

SlurmSnapshot snapshot()
{
    SlurmSnapshot said;
    CountedNode node = counted_node("n1", NODE_STATE_IDLE | NODE_STATE_DRAIN);
    node.reason = "fan";
    node.reason_user = 1001;
    said.numbers.set_nodes({node});
    said.users = {{1001, "alice"}};
    said.reservations = {{"maint", 2, 64, at(1000), at(2000)}};
    said.licenses = {{"matlab", "", 10, 3, 1},
                     {"power", "n[1-2]", 100, 20, 0},
                     {"power", "n[3-4]", 200, 0, 0}};
    return said;
}

std::string page(const SlurmMetrics &metrics,
                 MetricsReader reader = MetricsReader::anyone)
{
    MetricText text(MetricFormat::prometheus);
    metrics.write(text, reader);
    return std::move(text).finish();
}

std::string detail(const SlurmMetrics &metrics,
                   MetricsReader reader = MetricsReader::anyone)
{
    MetricText text(MetricFormat::prometheus);
    metrics.write_detail(text, reader);
    return std::move(text).finish();
}

} // namespace

TEST_CASE(
    "what slurmctld has said is shown, and nothing of it when it does not "
    "answer any more")
{
    SlurmMetrics metrics;
    CHECK(page(metrics).empty());
    metrics.set(std::make_shared<const SlurmSnapshot>(snapshot()));
    CHECK(page(metrics).contains("\nslurm_up 1\n"));
    CHECK(page(metrics).contains("\nslurm_nodes 1\n"));
    CHECK(page(metrics).contains(
        "\nslurm_reservation_nodes{reservation=\"maint\"} 2\n"));
    CHECK(detail(metrics).contains(
        "\nslurm_node_reason_info{node=\"n1\",reason=\"fan\",user=\"alice\"} "
        "1\n"));
    metrics.set(nullptr);
    CHECK(page(metrics).contains("\nslurm_up 0\n"));
    CHECK_FALSE(page(metrics).contains("slurm_nodes"));
    CHECK(detail(metrics).empty());
}

TEST_CASE("licenses with one name are told apart by their nodes")
{
    SlurmMetrics metrics;
    metrics.set(std::make_shared<const SlurmSnapshot>(snapshot()));
    for (const char *line :
         {"slurm_licenses{license=\"matlab\",nodes=\"\"} 10",
          "slurm_licenses{license=\"power\",nodes=\"n[1-2]\"} 100",
          "slurm_licenses{license=\"power\",nodes=\"n[3-4]\"} 200",
          "slurm_licenses_used{license=\"power\",nodes=\"n[1-2]\"} 20"}) {
        CAPTURE(line);
        CHECK(page(metrics).contains("\n" + std::string(line) + "\n"));
    }
}

TEST_CASE("what PrivateData hides is shown to those who say who they are")
{
    SlurmMetrics metrics;
    SlurmSnapshot said = snapshot();
    CountedJob job = running_job(1, 1000);
    job.user = 1001;
    job.account = "physics";
    said.people.emplace().add(job, use_of(job));
    metrics.set(std::make_shared<const SlurmSnapshot>(said));
    CHECK(
        detail(metrics).contains("\nslurm_user_jobs{username=\"alice\"} 1\n"));

    said.conf.people_are_private = true;
    said.conf.reservations_are_private = true;
    metrics.set(std::make_shared<const SlurmSnapshot>(said));
    for (const char *personal : {"alice", "physics", "fan"})
        CHECK_FALSE(detail(metrics).contains(personal));
    CHECK_FALSE(page(metrics).contains("\"maint\""));
    constexpr auto trusted = MetricsReader::trusted;
    for (const char *personal : {"alice", "physics", "fan"})
        CHECK(detail(metrics, trusted).contains(personal));
    CHECK(page(metrics, trusted).contains("\"maint\""));
}

TEST_CASE("what PrivateData hides is left out")
{
    SlurmMetrics metrics;
    SlurmSnapshot said = snapshot();
    said.conf.people_are_private = true;
    metrics.set(std::make_shared<const SlurmSnapshot>(said));
    CHECK(
        detail(metrics).contains("\nslurm_node_reason_info{node=\"n1\"} 1\n"));
    CHECK_FALSE(detail(metrics).contains("alice"));
    CHECK_FALSE(detail(metrics).contains("fan"));
    CHECK_FALSE(page(metrics).contains("slurm_reservation"));

    said.conf.people_are_private = false;
    metrics.set(std::make_shared<const SlurmSnapshot>(said));
    CHECK(page(metrics).contains("slurm_reservation"));
    said.conf.reservations_are_private = true;
    metrics.set(std::make_shared<const SlurmSnapshot>(said));
    CHECK_FALSE(page(metrics).contains("slurm_reservation"));
    CHECK(page(metrics).contains("slurm_licenses"));
}

TEST_CASE("what jobs have done is shown from the first list on, also while "
          "slurmctld does not answer")
{
    SlurmMetrics metrics;
    metrics.change([](JobHistory &history) { history.begin_list(); });
    CHECK_FALSE(page(metrics).contains("slurm_jobs_ended"));
    metrics.change([](JobHistory &history) { history.end_list(); });
    metrics.set(nullptr);
    CHECK(page(metrics).contains("slurm_jobs_ended_total"));
}
