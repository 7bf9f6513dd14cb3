// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/controllers.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <fstream>

using namespace bridge;

namespace {

std::string heartbeat(unsigned char number)
{
    std::string contents(16, '\0');
    contents[4] = 0x69; // some time
    contents[15] = static_cast<char>(number);
    return contents;
}

} // namespace

TEST_CASE("a host is found among slurmctld's by its short or its full name")
{
    Controllers two{{"ctl1", "ctl2.example.org"}, ""};

    CHECK(*find_controller(two, "ctl1") == 0);
    CHECK(*find_controller(two, "ctl1.example.org") == 0);
    CHECK(*find_controller(two, "ctl2.example.org") == 1);
    auto none = find_controller(two, "ctl3");
    REQUIRE_FALSE(none);
    CHECK(none.error().message.contains("ctl3"));
    CHECK_FALSE(find_controller(two, "ctl2"));
}

TEST_CASE("a heartbeat is two words, the time and the number")
{
    constexpr std::int64_t some_time = 0x69000000;
    CHECK(*parse_heartbeat(heartbeat(0)) == Heartbeat{some_time, 0});
    CHECK(*parse_heartbeat(heartbeat(2)) == Heartbeat{some_time, 2});
    for (const std::string &bad :
         {std::string(), std::string(15, 'x'), std::string(17, 'x')})
        CHECK_FALSE(parse_heartbeat(bad));
}

TEST_CASE("a single slurmctld needs no heartbeat")
{
    CHECK(last_in_control({{"ctl1"}, "/nonexistent"}, 0) == Control::ours);
    CHECK(last_in_control({{}, "/nonexistent"}, 0) == Control::ours);
}

TEST_CASE("of several, the last one that left a heartbeat is in control")
{
    TemporaryDirectory directory;
    Controllers two{{"ctl1", "ctl2"}, directory.path};
    CHECK(last_in_control(two, 0) == Control::unknown);

    std::ofstream(directory.path + "/heartbeat") << heartbeat(1);
    CHECK(last_in_control(two, 0) == Control::others);
    CHECK(last_in_control(two, 1) == Control::ours);

    std::ofstream(directory.path + "/heartbeat") << "torn";
    CHECK(last_in_control(two, 1) == Control::unknown);
}
