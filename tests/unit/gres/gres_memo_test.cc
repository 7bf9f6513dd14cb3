// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/memo.h"

#include "tests/unit/gres/memo_bed.h"

#include <chrono>
#include <doctest/doctest.h>
#include <string>

using namespace bridge;

TEST_CASE("what nobody knows is a question, and its answer is remembered")
{
    MemoBed bed;

    CHECK(bed.wish(gpu_request("a")) == "not known");
    CHECK(bed.count(gpu_request("a")) == -1);
    CHECK(bed.answer_all() == Gangs{"g"});

    CHECK(bed.wish(gpu_request("a")) == "gpu");
    CHECK(bed.wish(gpu_request("b")) == "gpu"); // whatever its name
    CHECK(bed.count(gpu_request("b")) == 4);
    CHECK(bed.count(gpu_request("a", model_a)) == -1);
    bed.answer_all();
    CHECK(bed.count(gpu_request("a", model_a)) == 2);
    CHECK(bed.evaluated == 3);
    CHECK(bed.answer_one() == "nobody");
}

TEST_CASE("a question that many ask is answered once")
{
    MemoBed bed;
    for (const char *gang : {"g", "h"})
        for (const char *ns : {"a", "b"})
            for (const char *name : {"r", "s"})
                bed.wish(gpu_request(name), ns, std::string(ns) + gang);

    CHECK(bed.answer_all() == Gangs{"ag", "ah", "bg", "bh"});
    CHECK(bed.evaluated == 1);
}

TEST_CASE("a gang is woken once, when all that it has asked for is known")
{
    MemoBed bed;
    bed.wish(number(0));
    bed.wish(number(1));
    bed.wish(number(1), "a", "other");
    bed.count(number(0));

    bed.answer_one();
    CHECK(bed.woken == Gangs{});
    bed.answer_one();
    CHECK(bed.woken == Gangs{"other"});
    bed.answer_one();
    CHECK(bed.woken == Gangs{"g"});
}

TEST_CASE("a request that has no GRES is told so by its own name")
{
    MemoBed bed;
    auto reason = [&](const std::string &name) {
        return bed.wish(gpu_request(name, "device.driver == 'none'"));
    };
    reason("a");
    bed.answer_all();

    CHECK(reason("a").contains(" request a "));
    CHECK(reason("other").contains(" request other "));
    CHECK(bed.evaluated == 1);
}

TEST_CASE("an answer of the devices of before is used until there is another")
{
    MemoBed bed;
    bed.count(gpu_request("a"));
    bed.answer_all();
    CHECK(bed.count(gpu_request("a")) == 4);
    CHECK(!bed.outdated);
    const std::uint64_t version = bed.memo.version();

    bed.turn_to(5);
    CHECK(bed.count(gpu_request("a")) == 4);
    CHECK(bed.outdated);
    CHECK(bed.answer_all() == Gangs{"g"});
    CHECK(bed.count(gpu_request("a")) == 5);
    CHECK(!bed.outdated);
    CHECK(bed.memo.version() != version);
    CHECK(bed.evaluated == 2);
}

TEST_CASE("a question whose answer fails is asked again, but not at once")
{
    MemoBed bed;
    bed.wish(gpu_request("a"));
    auto fails = [&] {
        auto question = bed.memo.next(bed.now);
        if (question)
            CHECK(bed.memo.take(std::nullopt, bed.now).empty());
        return question.has_value();
    };
    REQUIRE(fails());
    bed.wish(number(1), "a", "other");
    CHECK(bed.answer_one() == "a"); // which need not wait for it
    CHECK(bed.woken == Gangs{"other"});

    int times = 1;
    for (int i = 0; i < 300; i++) { // half a minute
        bed.now += std::chrono::milliseconds(100);
        bed.wish(gpu_request("a"));
        times += fails();
    }
    CHECK(times == 5); // after 1, 2, 4, 8 s
    CHECK(bed.memo.due(bed.now) > bed.now);
    bed.now = bed.memo.due(bed.now);
    CHECK(bed.answer_all() == Gangs{"g"});
    CHECK(bed.wish(gpu_request("a")) == "gpu");
}

TEST_CASE("all who have asked a question that fails ask it again")
{
    MemoBed bed;
    bed.wish(gpu_request("a"), "a", "g");
    REQUIRE(bed.memo.next(bed.now).has_value());
    bed.wish(gpu_request("a"), "b", "placed", true);
    CHECK(bed.memo.take(std::nullopt, bed.now).empty());
    CHECK(bed.memo.awaits("g"));

    bed.now = bed.memo.due(bed.now);
    CHECK(bed.answer_one() == "b"); // which comes first
    CHECK(bed.woken == Gangs{"g", "placed"});
    CHECK(bed.answer_one() == "nobody");
    CHECK(!bed.memo.awaits("placed"));
}

TEST_CASE("a gang is woken by the last answer that was missing")
{
    MemoBed bed;
    bed.wish(number(0));
    bed.answer_all();
    bed.turn_to(5);
    bed.wish(number(0));
    bed.wish(number(1));

    bed.answer_one();
    CHECK(bed.woken == Gangs{"g"});
    CHECK(bed.memo.awaits("g"));
    bed.answer_one();
    CHECK(bed.woken == Gangs{"g"});
    CHECK(!bed.memo.awaits("g"));
}
