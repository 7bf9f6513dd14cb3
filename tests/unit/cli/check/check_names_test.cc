// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_names.h"

#include "common/contract/names.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("MaxPendingJobs leaves room in slurmctld's table")
{
    struct {
        unsigned pending;
        std::uint32_t jobs;
        const char *change; // null: nothing is found
    } const table[] = {
        {5000, 10000, nullptr},
        {7500, 10000, nullptr},
        {7501, 10000, "MaxPendingJobs=5000"},
        {0, 10000, "MaxPendingJobs=5000"},
        {5000, 6000, "MaxPendingJobs=3000"},
        {5000, 0, nullptr}, // slurmctld has not said
    };
    for (const auto &row : table) {
        CAPTURE(row.pending);
        CAPTURE(row.jobs);
        SlurmFacts slurm;
        slurm.max_jobs = row.jobs;
        Conf conf;
        conf.max_pending_jobs = row.pending;

        Findings found = check_pending_jobs(slurm, conf);

        CHECK(found.size() == (row.change ? 1 : 0));
        if (!found.empty() && row.change) {
            CHECK(found[0].severity == Severity::warning);
            CHECK(found[0].change == row.change);
        }
    }
}

TEST_CASE("a QoS that slurmdbd does not have is named with who wants it")
{
    SlurmFacts slurm;
    slurm.qos = {"normal", "expedite"};
    Conf conf;
    conf.priority_classes = {
        {"high", {"Expedite", 0}}, {"low", {"", 100}}, {"odd", {"nowhere", 0}}};
    std::vector<Namespace> namespaces = {
        {"good", {}, {{names::namespace_qos, "normal"}}},
        {"plain", {}, {}},
        {"bad", {}, {{names::namespace_qos, "gone"}}}};

    Findings found = check_qos(slurm, conf, namespaces);

    REQUIRE(found.size() == 2);
    CHECK(found[0].about == "k8s.conf, PriorityClass=odd");
    CHECK(found[0].severity == Severity::error);
    CHECK(found[0].change == "sacctmgr add qos nowhere");
    CHECK(found[1].about == "namespace bad");
    slurm.qos.reset(); // nobody has said
    CHECK(check_qos(slurm, conf, namespaces).empty());
}
