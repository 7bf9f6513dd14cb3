// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang.h"
#include "tests/unit/make.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

TEST_CASE("the generation of a Pod is a number of 32 bits, or 0")
{
    struct Row {
        std::string text;
        std::uint32_t generation;
    };
    const Row rows[] = {
        {"", 0},
        {"0", 0},
        {"1", 1},
        {"007", 7},
        {"4294967295", UINT32_MAX},
        {"4294967296", 0},
        {"18446744073709551617", 0},
        {"-1", 0},
        {"+1", 0},
        {" 1", 0},
        {"1 ", 0},
        {"1.0", 0},
        {"0x1", 0},
        {"1e3", 0},
        {"one", 0},
        {std::string("1\0", 2), 0},
        {std::string(100000, '1'), 0},
    };
    for (const Row &row : rows) {
        CAPTURE(row.text.substr(0, 40));
        Pod pod = make_pod("web");
        pod.annotations[names::generation_annotation] = row.text;
        CHECK(generation_of(pod) == row.generation);
    }
    CHECK(generation_of(make_pod("web")) == 0);
}

TEST_CASE("the generation of a gang is the highest that is known")
{
    Gang gang = make_gang(make_pod("web-0"));
    Pod raised = make_pod("web-1");
    raised.annotations[names::generation_annotation] = "2";
    CHECK(generation_of(gang) == 0);

    gang.pods.push_back(share(raised));
    CHECK(generation_of(gang) == 2);

    gang.least_generation = 3;
    CHECK(generation_of(gang) == 3);

    gang.pods.clear();
    CHECK(generation_of(gang) == 3);
}
