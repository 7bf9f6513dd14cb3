// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/pins.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("pins are news when they differ")
{
    Pins pins;
    CHECK(pins.take({"sn1"}, false).changed);
    CHECK(pins.has("sn1"));
    CHECK_FALSE(pins.has("sn2"));
    CHECK_FALSE(pins.take({"sn1"}, false).changed);
    CHECK(pins.take({"sn2"}, false).changed);
    CHECK_FALSE(pins.has("sn1"));
}

TEST_CASE("pins are back with the first sync that began after they were lost")
{
    Pins pins;
    CHECK_FALSE(pins.take({"sn1"}, false).back);
    pins.lose();
    CHECK_FALSE(pins.has("sn1"));

    Pins::News doubted = pins.take({"sn1"}, true);
    CHECK_FALSE(doubted.changed);
    CHECK_FALSE(doubted.back);
    CHECK_FALSE(pins.has("sn1"));

    CHECK(pins.take({"sn1"}, false).back);
    CHECK(pins.has("sn1"));
    CHECK_FALSE(pins.take({"sn1"}, false).back);
}
