// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/queue_wants.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("the first job of a partition says what those behind it wait for")
{
    QueueWants wants;
    wants.add({"k8s", 100, "Resources"});
    wants.add({"k8s", 90, "Priority"});
    wants.add({"other", 100, "Licenses"});

    CHECK(wants.has({"k8s", 100, "Resources"}));
    CHECK(wants.has({"k8s", 90, "Priority"}));
    CHECK(wants.has({"k8s", 100, "Priority"}));
    // It stands before that job, behind something else.
    CHECK_FALSE(wants.has({"k8s", 101, "Priority"}));
    CHECK_FALSE(wants.has({"other", 90, "Priority"}));
}

TEST_CASE("a job whose own reason is another one wants no node")
{
    QueueWants wants;
    wants.add({"k8s", 100, "Resources"});

    for (const char *reason :
         {"JobHeldUser", "Dependency", "BeginTime", "QOSMaxCpuPerUserLimit",
          "AssocGrpCpuLimit", "PartitionTimeLimit", "None", ""}) {
        CAPTURE(reason);
        CHECK_FALSE(wants.has({"k8s", 1, reason}));
    }
}

TEST_CASE("each partition of a job counts")
{
    QueueWants wants;
    wants.add({"a,b", 50, "ReqNodeNotAvail, UnavailableNodes:n1"});
    wants.add({"b", 60, "Resources"});

    CHECK(wants.has({"a", 50, "Priority"}));
    CHECK_FALSE(wants.has({"a", 60, "Priority"}));
    CHECK(wants.has({"c,b", 60, "Priority"}));
    CHECK_FALSE(wants.has({"c", 1, "Priority"}));
    CHECK_FALSE(QueueWants().has({"a", 1, "Priority"}));
}
