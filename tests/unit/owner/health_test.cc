// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/health.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

TEST_CASE("the agent is healthy beside a Node or a job that it cannot serve")
{
    Health health;
    CHECK(health.failures(false).empty());
    health.set_problem(nodes_problem, "n1 has no address");
    health.set_problem(newer_problem, "it has a part that is not known");
    CHECK(health.failures(false).empty());
    CHECK(health.problems().size() == 2);

    health.set_problem("slurmctld", "away");
    health.set_problem(lease_problem, "denied");
    CHECK(health.failures(false) == "Lease: denied\nslurmctld: away\n");
    CHECK(health.failures(true) == "Lease: denied\n");
}

TEST_CASE("a problem lasts until it is cleared and is news only once")
{
    Health health;

    CHECK(health.set_problem("slurmctld", "away"));
    CHECK_FALSE(health.set_problem("slurmctld", "away"));
    CHECK(health.set_problem("slurmctld", "denied"));
    CHECK(health.problems().at("slurmctld") == "denied");

    CHECK(health.clear_problem("slurmctld"));
    CHECK_FALSE(health.clear_problem("slurmctld"));
    CHECK(health.problems().empty());
}

TEST_CASE("metrics are counted by action and result, with their types")
{
    Health health;
    health.count_action("bind", "ok");
    health.count_action("bind", "ok");
    health.count_action("bind", "conflict");
    health.count("pod");
    health.set_problem("nodes", "x");
    health.time_turn(std::chrono::milliseconds(3));
    health.time_binding(std::chrono::milliseconds(20));
    health.time_binding(std::chrono::seconds(-1)); // clocks differ

    MetricText metrics(MetricFormat::prometheus);
    health.write_metrics(metrics);
    std::string text = std::move(metrics).finish();

    for (const char *line :
         {"slurmk8sd_actions_total{action=\"bind\",result=\"ok\"} 2\n",
          "slurmk8sd_actions_total{action=\"bind\",result=\"conflict\"} 1\n",
          "slurmk8sd_events_total{event=\"pod\"} 1\n",
          "# TYPE slurmk8sd_events_total counter\n",
          "slurmk8sd_turn_seconds_bucket{le=\"0.0025\"} 0\n",
          "slurmk8sd_turn_seconds_bucket{le=\"0.005\"} 1\n",
          "slurmk8sd_pod_binding_seconds_bucket{le=\"0.01\"} 1\n",
          "slurmk8sd_pod_binding_seconds_bucket{le=\"0.025\"} 2\n",
          "slurmk8sd_pod_binding_seconds_sum 0.02\n"}) {
        CAPTURE(line);
        CHECK(text.find(line) != text.npos);
    }
    CHECK(text.ends_with("\n"));
}
