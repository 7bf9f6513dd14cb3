// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/control_watch.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

constexpr ControlWatch::Seconds timeout = 120;

Control seen(ControlWatch &watch, std::optional<Heartbeat> heartbeat,
             std::optional<ControlWatch::Seconds> control_time,
             ControlWatch::Seconds now)
{
    return watch.find({heartbeat, control_time}, now).control;
}

} // namespace

TEST_CASE("a slurmctld that is the only one is always in control")
{
    ControlWatch watch(0, 1, timeout);

    CHECK(seen(watch, {}, 0, 1000) == Control::ours);
    CHECK(seen(watch, {}, {}, 1000) == Control::ours);
}

TEST_CASE("of several, the one whose heartbeat is there is in control")
{
    ControlWatch first(0, 2, timeout), second(1, 2, timeout);

    CHECK(seen(first, Heartbeat{1000, 0}, 900, 1001) == Control::ours);
    CHECK(seen(second, Heartbeat{1000, 0}, 0, 1001) == Control::others);
    // It was stopped, and does not know that another one has taken over.
    CHECK(seen(first, Heartbeat{2000, 1}, 900, 2001) == Control::others);
    CHECK(seen(second, Heartbeat{2000, 1}, 1990, 2001) == Control::ours);
}

TEST_CASE("without a heartbeat, or with an old one, nobody knows")
{
    ControlWatch watch(0, 2, timeout);

    CHECK(seen(watch, {}, 900, 1001) == Control::unknown);
    CHECK(seen(watch, Heartbeat{1000, 0}, 900, 1120) == Control::ours);
    CHECK(seen(watch, Heartbeat{1000, 0}, 900, 1121) == Control::unknown);
    // The clock was set back.
    CHECK(seen(watch, Heartbeat{1000, 0}, 900, 500) == Control::ours);
}

TEST_CASE("without SlurmctldTimeout a heartbeat is never too old")
{
    ControlWatch watch(0, 2, 0);

    CHECK(seen(watch, Heartbeat{1000, 0}, 900, 100000) == Control::ours);
}

TEST_CASE("a slurmctld on standby is not in control, whatever the file says")
{
    ControlWatch watch(1, 2, timeout);
    CHECK(seen(watch, Heartbeat{1000, 1}, 900, 1001) == Control::ours);

    // It gives control back, and the other one has written nothing yet.
    CHECK(seen(watch, Heartbeat{1000, 1}, 0, 1002) == Control::unknown);
    CHECK(seen(watch, Heartbeat{1002, 1}, 0, 1003) == Control::unknown);
    CHECK(seen(watch, Heartbeat{1004, 0}, 0, 1004) == Control::others);
}

TEST_CASE("after a reconfigure that failed, slurmctld goes on in control")
{
    ControlWatch watch(1, 2, timeout);
    CHECK(seen(watch, Heartbeat{1000, 1}, 900, 1001) == Control::ours);

    CHECK(seen(watch, Heartbeat{1000, 1}, 0, 1002) == Control::unknown);
    auto found = watch.find({Heartbeat{1030, 1}, 0}, 1031);

    CHECK(found.control == Control::ours);
    CHECK_FALSE(found.new_term);
    CHECK(seen(watch, Heartbeat{1060, 1}, 0, 1061) == Control::ours);
}

TEST_CASE("the next term is seen even if nobody else was in control")
{
    ControlWatch watch(1, 2, timeout);
    CHECK_FALSE(watch.find({Heartbeat{1000, 1}, 900}, 1001).new_term);
    // The first slurmctld asked for control, and died before its heartbeat.
    CHECK(seen(watch, Heartbeat{1000, 1}, 0, 1002) == Control::unknown);

    auto found = watch.find({Heartbeat{1100, 1}, 1099}, 1101);

    CHECK(found.control == Control::ours);
    CHECK(found.new_term);
    CHECK_FALSE(watch.find({Heartbeat{1100, 1}, 1099}, 1102).new_term);
}

TEST_CASE("the first takeover is no new term")
{
    ControlWatch watch(1, 2, timeout);
    CHECK(seen(watch, Heartbeat{1000, 0}, 0, 1001) == Control::others);

    CHECK_FALSE(watch.find({Heartbeat{1200, 1}, 1199}, 1201).new_term);
}

TEST_CASE("without slurmctld's variable the heartbeat alone says it")
{
    ControlWatch watch(1, 2, timeout);

    CHECK(seen(watch, Heartbeat{1000, 0}, {}, 1001) == Control::others);
    CHECK(seen(watch, Heartbeat{1100, 1}, {}, 1101) == Control::ours);
    CHECK(seen(watch, Heartbeat{1102, 0}, {}, 1103) == Control::others);
}
