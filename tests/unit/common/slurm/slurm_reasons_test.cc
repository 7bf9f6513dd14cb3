// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/reasons.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("each frequent reason has a meaning and a remedy")
{
    for (const char *reason :
         {"Priority", "Resources", "ReqNodeNotAvail", "JobHeldUser",
          "JobHeldAdmin", "BeginTime", "Dependency", "Licenses",
          "PartitionTimeLimit", "PartitionDown", "PartitionConfig",
          "QOSMaxCpuPerUserLimit", "QOSGrpCpuLimit", "AssocGrpJobsLimit",
          "AssocMaxWallDurationPerJobLimit", "QOSMinGRES", "MaxCpuPerAccount",
          "MaxMemoryRunMinsPerUser"}) {
        CAPTURE(reason);
        ReasonExplanation words = explain_reason(reason);
        CHECK_FALSE(words.meaning.empty());
        CHECK_FALSE(words.remedy.empty());
    }
}

TEST_CASE("a reason means the same with its details behind it")
{
    CHECK(explain_reason("ReqNodeNotAvail, UnavailableNodes:kn1").meaning ==
          explain_reason("ReqNodeNotAvail").meaning);
}

TEST_CASE("a limit says what it counts, whose it is, and whether waiting helps")
{
    ReasonExplanation user = explain_reason("QOSMaxCpuPerUserLimit");
    CHECK(user.meaning ==
          "a limit on CPUs of its QOS (for each user) forbids it");
    CHECK(user.remedy.starts_with("Wait"));

    ReasonExplanation job = explain_reason("AssocMaxMemPerJob");
    CHECK(job.meaning.contains("memory"));
    CHECK(job.remedy.starts_with("Delete the Pod"));

    CHECK(explain_reason("AssocGrpCPUMinutesLimit")
              .meaning.contains("CPU minutes"));
    CHECK(explain_reason("QOSMinCpuNotSatisfied").remedy.starts_with("Delete"));
}

TEST_CASE("a reason of a Slurm to come has a remedy and no made-up meaning")
{
    for (const char *reason : {"", "Whatever", "MoonPhase, waxing", "QO"}) {
        CAPTURE(reason);
        CHECK(explain_reason(reason).meaning.empty());
        CHECK(explain_reason(reason).remedy.contains("squeue(1)"));
    }
}

TEST_CASE("reasons that a moving queue changes are of one class")
{
    for (const char *reason :
         {"None", "Priority", "Resources", "Resources, details"})
        CHECK(reason_class(reason) == "Priority");

    CHECK(reason_class("JobHeldUser") != reason_class("Priority"));
    CHECK(reason_class("JobHeldUser") != reason_class("JobHeldAdmin"));
    CHECK(reason_class("ReqNodeNotAvail, UnavailableNodes:kn1") ==
          reason_class("ReqNodeNotAvail, UnavailableNodes:kn2"));
}

TEST_CASE("some reasons say that more nodes would help")
{
    for (const char *reason :
         {"Resources", "ReqNodeNotAvail, UnavailableNodes:kn1", "NodeDown",
          "PartitionConfig"})
        CHECK(wants_nodes(reason));
    for (const char *reason :
         {"", "None", "Priority", "JobHeldUser", "BeginTime", "Dependency",
          "BadConstraints", "Licenses", "AssocGrpCpuLimit",
          "QOSMaxJobsPerUserLimit", "Reservation", "PartitionDown"})
        CHECK_FALSE(wants_nodes(reason));
}

TEST_CASE("whoever is held, or waits for a time or for others, wishes to wait")
{
    for (const char *reason :
         {"JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue", "BeginTime",
          "Dependency", "DependencyNeverSatisfied"})
        CHECK(is_own_wish(reason));
    for (const char *reason : {"", "None", "Priority", "Resources",
                               "ReqNodeNotAvail, UnavailableNodes:kn1",
                               "BadConstraints", "AssocGrpCpuLimit"})
        CHECK_FALSE(is_own_wish(reason));
}
