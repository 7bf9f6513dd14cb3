// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/fault_points.h"

#include <algorithm>
#include <csignal>
#include <doctest/doctest.h>
#include <set>

using namespace bridge;
using Moment = WriteGate::Moment;

TEST_CASE("a fault point is a write, a side of it, a visit and a signal")
{
    CHECK(*parse_fault_point("submit:before") ==
          FaultPoint{Write::submit, Moment::before, 1, SIGKILL});
    CHECK(*parse_fault_point("delete_pod:after:12") ==
          FaultPoint{Write::delete_pod, Moment::after, 12, SIGKILL});
    CHECK(*parse_fault_point("bind:after:1:stop") ==
          FaultPoint{Write::bind, Moment::after, 1, SIGSTOP});
    CHECK(*parse_fault_point("bind:after:1:kill") ==
          FaultPoint{Write::bind, Moment::after, 1, SIGKILL});
}

TEST_CASE("what is no fault point is rejected")
{
    for (const char *text :
         {"", ":", "submit", "submit:", "submit:during", "nothing:before",
          "submit:before:", "submit:before:0", "submit:before:-1",
          "submit:before:1x", "submit:before:99999999999", "submit:before:1:",
          "submit:before:1:term", "submit:before:1:kill:", "SUBMIT:before"}) {
        CAPTURE(text);
        auto point = parse_fault_point(text);
        REQUIRE_FALSE(point);
        CHECK(point.error().code == Code::rejected);
    }
}

TEST_CASE(
    "every point that is listed can be asked for, and each is another one")
{
    auto names = all_fault_points();
    CHECK(names.size() == 2 * write_names.size());
    CHECK(std::set<std::string>(names.begin(), names.end()).size() ==
          names.size());
    for (const std::string &name : names)
        CHECK(parse_fault_point(name));
}
