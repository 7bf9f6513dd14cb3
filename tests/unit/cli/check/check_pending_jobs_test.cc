// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_pending_jobs.h"

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
