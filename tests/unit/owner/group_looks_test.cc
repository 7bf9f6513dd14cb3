// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/group_looks.h"

#include <doctest/doctest.h>
#include <thread>

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("all who ask before a look begins share it, others get the next one")
{
    GroupLooks looks;
    CHECK(looks.begin(GroupApi::plugins, 1h, {}) == 0);
    CHECK(looks.ask(GroupApi::plugins) == 1);
    CHECK(looks.ask(GroupApi::plugins) == 1);
    CHECK(looks.begin(GroupApi::plugins, 0ms, {}) == 1);
    CHECK(looks.begin(GroupApi::plugins, 0ms, {}) == 1); // of its own accord
    CHECK(looks.ask(GroupApi::plugins) == 2);
    CHECK(looks.ask(GroupApi::jobset) == 1);
}

TEST_CASE("looks keep their distance, and a request ends the wait for the next")
{
    GroupLooks looks;
    looks.begin(GroupApi::plugins, 1h, {});
    auto first = Clock::now();
    std::jthread asks([&] { looks.ask(GroupApi::plugins); });
    looks.wait(GroupApi::plugins, 1h, {});
    CHECK(looks.begin(GroupApi::plugins, 20ms, {}) == 1);
    looks.wait(GroupApi::plugins, 20ms, {}); // nobody asks
    looks.begin(GroupApi::plugins, 20ms, {});
    CHECK(Clock::now() - first >= 39ms);

    std::stop_source stop;
    stop.request_stop();
    looks.wait(GroupApi::plugins, 1h, stop.get_token());
    looks.begin(GroupApi::plugins, 1h, stop.get_token());
}
