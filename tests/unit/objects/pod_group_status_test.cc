// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/pod_group_status.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace bridge;

namespace {

Json object(const std::string &text)
{
    auto json = Json::parse(text);
    REQUIRE(json.has_value());
    return *json;
}

// Of these managers of its status, and with this phase.
StatusWriter writer(const std::vector<std::string> &managers,
                    const std::string &phase)
{
    std::string fields =
        R"({"manager":"kubectl","operation":"Update"})"; // of the spec
    for (const std::string &manager : managers)
        fields += R"(,{"subresource":"status","manager":")" + manager + "\"}";
    return status_writer_of(object(R"({"metadata":{"managedFields":[)" +
                                   fields + R"(]},"status":{"phase":")" +
                                   phase + "\"}}"));
}

} // namespace

TEST_CASE("the phase follows from how many Pods there are, run and are over")
{
    struct {
        PodGroupCounts counts; // pods, running, succeeded, failed
        const char *phase;
    } rows[] = {
        {{0, 0, 0, 0}, "Pending"},    {{2, 0, 0, 0}, "Pending"},
        {{2, 1, 1, 0}, "Pending"},    {{3, 0, 0, 0}, "Scheduling"},
        {{4, 2, 0, 0}, "Scheduling"}, {{3, 2, 0, 0}, "Scheduling"},
        {{3, 3, 0, 0}, "Running"},    {{3, 1, 2, 0}, "Running"},
        {{5, 3, 0, 0}, "Running"},    {{3, 0, 3, 0}, "Finished"},
        {{4, 0, 3, 1}, "Finished"},   {{3, 2, 0, 1}, "Failed"},
        {{3, 0, 2, 1}, "Failed"},     {{4, 3, 0, 1}, "Failed"},
        {{3, 1, 0, 1}, "Scheduling"}, {{3, 0, 0, 3}, "Failed"},
    };
    for (const auto &row : rows) {
        CAPTURE(row.phase);
        CAPTURE(row.counts.pods);
        CAPTURE(row.counts.running);
        CAPTURE(row.counts.succeeded);
        PodGroupStatus next = next_status({}, 3, row.counts, "");
        CHECK(next.phase == row.phase);
        CHECK(next.running == row.counts.running);
        CHECK(next.succeeded == row.counts.succeeded);
        CHECK(next.failed == row.counts.failed);
        CHECK(next == next_status(next, 3, row.counts, "")); // once is enough
    }
}

TEST_CASE("what has finished or failed stays so")
{
    for (const char *phase : {"Finished", "Failed"}) {
        PodGroupStatus last{phase, 0, 3, 1, true, "a/b"};
        CHECK(next_status(last, 3, {}, "a/c") == last);
        CHECK(next_status(last, 3, {3, 3, 0, 0}, "") == last);
    }
    PodGroupStatus running{"Running", 3, 0, 0, true, ""};
    CHECK(next_status(running, 3, {2, 2, 0, 0}, "").phase == "Pending");
    CHECK(next_status(running, 3, {3, 2, 0, 0}, "").phase == "Scheduling");
}

TEST_CASE("it starts, and is its owner's, once all Pods exist")
{
    PodGroupStatus next = next_status({}, 2, {1, 0, 0, 0}, "a/first");
    CHECK_FALSE(next.started);
    CHECK(next.occupied_by == "");
    next = next_status(next, 2, {2, 0, 0, 0}, "a/first");
    CHECK(next.started);
    CHECK(next.occupied_by == "a/first");
    next = next_status(next, 2, {2, 2, 0, 0}, "a/second");
    CHECK(next.occupied_by == "a/first");

    // Its Pods have gone, others came.
    next = next_status(next, 2, {}, "a/first");
    CHECK(next.phase == "Pending");
    CHECK(next_status(next, 2, {2, 0, 0, 0}, "").occupied_by == "a/first");
    CHECK(next_status(next, 2, {2, 0, 0, 0}, "a/second").occupied_by ==
          "a/second");
}

TEST_CASE("who has written the status, told from its fields' managers")
{
    CHECK(writer({}, "") == StatusWriter::nobody);
    CHECK(status_writer_of(object("{}")) == StatusWriter::nobody);
    CHECK(writer({"slurmk8sd"}, "Running") == StatusWriter::us);
    CHECK(writer({"slurmk8sd"}, "") == StatusWriter::us);
    CHECK(writer({"controller"}, "Running") == StatusWriter::others);
    CHECK(writer({"controller"}, "") == StatusWriter::others);
    CHECK(writer({"slurmk8sd", "controller"}, "") == StatusWriter::others);
    CHECK(writer({"controller", "slurmk8sd"}, "") == StatusWriter::others);
    CHECK(writer({""}, "") == StatusWriter::others);
    CHECK(writer({"slurmk8sd2"}, "") == StatusWriter::others);
    // Nobody has left a name.
    CHECK(writer({}, "Pending") == StatusWriter::others);
}

TEST_CASE("a status is read as it is; what cannot be is none")
{
    PodGroupStatus full = pod_group_status_from(object(
        R"({"status":{"phase":"Running","running":2,"succeeded":1,"failed":3,)"
        R"("scheduleStartTime":"2026-01-02T10:00:00Z","occupiedBy":"a/b"}})"));
    CHECK(full == PodGroupStatus{"Running", 2, 1, 3, true, "a/b"});

    CHECK(pod_group_status_from(object("{}")) == PodGroupStatus{});
    CHECK(pod_group_status_from(object(
              R"({"status":{"phase":7,"running":-1,"succeeded":"x",)"
              R"("failed":1.5,"scheduleStartTime":null,"occupiedBy":{}}})")) ==
          PodGroupStatus{});
    CHECK(pod_group_status_from(
              object(R"({"status":{"running":9223372036854775807}})"))
              .running == 2147483647);
}
