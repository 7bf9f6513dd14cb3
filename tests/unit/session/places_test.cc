// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/session/places.h"

#include <doctest/doctest.h>
#include <optional>
#include <utility>
#include <vector>

using namespace bridge;

TEST_CASE("places are limited for each one and for all, and come back")
{
    Places places(3, 2);
    std::vector<Places::Place> held;
    auto take = [&](const char *who,
                    Places::Limit limit = Places::Limit::of_both) {
        auto place = places.take(who, limit);
        std::optional<Places::Full> full;
        if (place)
            held.push_back(std::move(*place));
        else
            full = place.error();
        return full;
    };

    CHECK(take("a") == std::nullopt);
    CHECK(take("a") == std::nullopt);
    CHECK(take("a") == Places::Full::of_one);
    CHECK(take("a", Places::Limit::of_all_alone) == std::nullopt);
    CHECK(take("b") == Places::Full::of_all);
    held.pop_back();
    CHECK(take("b") == std::nullopt);
    held.clear();
    CHECK(take("a") == std::nullopt);
    CHECK(take("a") == std::nullopt);
}

TEST_CASE("a place that is moved is given back once")
{
    Places places(2, 2);
    Places::Place first = std::move(*places.take("a"));
    Places::Place second = std::move(*places.take("a"));

    first = std::move(second);

    Places::Place third = std::move(*places.take("a"));
    CHECK(!places.take("a"));
    first = {};
    CHECK(places.take("a"));
}
