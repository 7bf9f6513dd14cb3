// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/metrics/census_pace.h"

#include <chrono>
#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("Slurm is counted twice in MinJobAge at least")
{
    struct Row {
        std::chrono::seconds wanted;
        std::chrono::seconds min_job_age;
        std::chrono::seconds interval;
    };
    for (const Row &row : {Row{30s, 300s, 30s},      //
                           Row{3600s, 300s, 150s},   //
                           Row{30s, 40s, 20s},       //
                           Row{30s, 1s, 1s},         //
                           Row{3600s, 0s, 3600s}}) { // never forgotten
        CAPTURE(row.wanted.count());
        CAPTURE(row.min_job_age.count());
        CHECK(census_interval(row.wanted, row.min_job_age).count() ==
              row.interval.count());
    }
}
