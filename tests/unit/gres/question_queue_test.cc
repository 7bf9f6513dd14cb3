// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/question_queue.h"

#include "tests/unit/gres/memo_bed.h"

#include <chrono>
#include <doctest/doctest.h>
#include <string>

using namespace bridge;

TEST_CASE("devices that change faster than questions are answered")
{
    MemoBed bed;
    bed.wish(gpu_request("a"));
    for (int i = 0; i < 20; i++) {
        auto question = bed.memo.next(bed.now);
        if (question) {
            DeviceAnswer answer = bed.evaluator.answer(bed.catalog, *question);
            bed.turn_to(5 + i); // before it is there
            answer.cost = 1;
            CHECK(bed.memo.take(std::move(answer), bed.now) == Gangs{"g"});
        }
        CHECK(bed.wish(gpu_request("a")) == "gpu");
        CHECK(bed.outdated);
    }
    CHECK(bed.memo.version() == 0); // it was always the same
}

TEST_CASE("what is missing comes before what is only outdated")
{
    MemoBed bed;
    for (int i = 0; i < 5; i++)
        bed.wish(number(i));
    bed.answer_all();
    bed.turn_to(5);
    for (int i = 0; i < 5; i++)
        bed.wish(number(i), "a", "old");
    bed.wish(number(5), "a", "new");

    CHECK(bed.answer_one(cel_limits::of_namespace / 2) == "a");
    CHECK(bed.woken == Gangs{"new"});

    // And has half of the share for itself.
    CHECK(bed.answer_one() == "nobody");
    bed.wish(number(6), "a", "new");
    CHECK(bed.answer_one() == "a");
    CHECK(bed.woken == Gangs{"new"});
    CHECK(bed.memo.due(bed.now) == bed.now + cel_limits::period);
    bed.now += cel_limits::period;
    CHECK(bed.answer_all() == Gangs{"old"});
}

TEST_CASE("gangs that have nodes are served first, whatever their share")
{
    MemoBed bed;
    for (int i = 0; i < 3; i++)
        bed.wish(number(i));
    bed.wish(number(2), "a", "placed", true); // which waits already
    CHECK(bed.answer_one(cel_limits::of_namespace) == "a");
    CHECK(bed.woken == Gangs{"placed"});
    CHECK(bed.answer_one() == "nobody");

    bed.wish(number(3), "a", "placed", true);
    CHECK(bed.answer_one() == "a");
    CHECK(bed.woken == Gangs{"placed"});
}

TEST_CASE("a gang that has nodes does not wait to hear that it may again")
{
    MemoBed bed;
    DeviceRequest request = gpu_request("a", "device.driver == 'none'");
    request.class_name = "other.example.com";
    CHECK(bed.wish(request) == "not known");
    bed.answer_all();
    REQUIRE(bed.wish(request) != "gpu");
    bed.wish(number(0));
    CHECK(bed.answer_one(cel_limits::of_namespace) == "a");

    bed.turn_to(5);
    bed.wish(request, "a", "waits");
    CHECK(bed.answer_one() == "nobody");
    bed.wish(request, "a", "placed", true);
    CHECK(bed.answer_one() == "a");
    CHECK(bed.woken.contains("placed"));
}

TEST_CASE("gangs that have nodes hold up no other namespace")
{
    MemoBed bed;
    for (int i = 0; i < 30; i++)
        bed.wish(number(i), "greedy", "placed", true);
    for (int i = 40; i < 43; i++)
        bed.wish(number(i), "other");

    int others = 0;
    for (int i = 0; i < 6; i++)
        others += bed.answer_one() == "other";
    CHECK(others == 3);
}

TEST_CASE("namespaces take turns, however much one of them asks")
{
    MemoBed bed;
    for (int i = 0; i < 20; i++)
        bed.wish(number(i), "greedy");
    bed.answer_one();
    bed.wish(number(100), "other");
    bed.wish(number(101), "third");

    std::set<std::string> served{bed.answer_one(), bed.answer_one(),
                                 bed.answer_one()};

    CHECK(served == Gangs{"greedy", "other", "third"});
}

TEST_CASE("a namespace that has used its share up waits, and others do not")
{
    MemoBed bed;
    for (int i = 0; i < 5; i++)
        bed.wish(number(i), "greedy");
    CHECK(bed.answer_one(cel_limits::of_namespace - 1) == "greedy");
    CHECK(!bed.memo.waits_for_share("greedy", bed.now));
    CHECK(bed.answer_one(1) == "greedy");

    CHECK(bed.answer_one() == "nobody");
    CHECK(bed.memo.waits_for_share("greedy", bed.now));
    bed.wish(number(100), "other");
    bed.wish(number(3), "other"); // which it does not get by its own share
    CHECK(bed.answer_one() == "other");
    CHECK(bed.answer_one() == "other");
    CHECK(bed.answer_one() == "nobody");
    CHECK(!bed.memo.waits_for_share("other", bed.now));

    bed.now += cel_limits::period - std::chrono::milliseconds(1);
    CHECK(bed.answer_one() == "nobody");
    bed.now += std::chrono::milliseconds(1);
    CHECK(bed.answer_all() == Gangs{"g"});
    CHECK(bed.wish(number(4), "greedy") == "gpu");
}

TEST_CASE("the questions that wait of a namespace are bounded")
{
    MemoBed bed;
    const int most = static_cast<int>(QuestionQueue::most);
    for (int i = 0; i < most; i++)
        bed.wish(number(i));
    for (int i = most; i < 2 * most; i++)
        bed.wish(number(i), "a", "late");
    bed.wish(number(0), "b", "other");
    CHECK(bed.memo.awaits("late"));

    CHECK(bed.answer_all() == Gangs{"g", "late", "other"});
    CHECK(bed.evaluated == most);
    CHECK(!bed.memo.awaits("late"));
    for (int i = 0; i < 2 * most; i++) // the rest is asked next time
        bed.wish(number(i));
    CHECK(bed.answer_all() == Gangs{"g"});
    CHECK(bed.evaluated == 2 * most);
}

TEST_CASE("who has no room for a question asks again when others make it")
{
    MemoBed bed;
    bed.wish(number(0), "poor");
    bed.answer_one(cel_limits::of_namespace);
    const int most = static_cast<int>(QuestionQueue::most);
    for (int i = 1; i <= most; i++)
        bed.wish(number(i), "poor");
    bed.wish(number(most + 1), "poor", "late");
    bed.wish(number(most + 2), "poor", "later");
    for (int i = 1; i <= most; i++)
        bed.wish(number(i), "rich", "rich");

    CHECK(bed.answer_one() == "rich");
    CHECK(bed.woken == Gangs{"late", "later"});
    CHECK(!bed.memo.awaits("late"));
}

TEST_CASE("what has no room comes in the order in which it was asked")
{
    MemoBed bed;
    const int most = static_cast<int>(QuestionQueue::most);
    for (int i = 0; i < most; i++)
        bed.wish(number(i));
    bed.wish(number(100), "a", "z");
    for (int i = 0; i < 20; i++)
        bed.wish(number(100), "a", "h" + std::to_string(i));

    bed.answer_one();
    CHECK(bed.woken.contains("z"));
    CHECK(bed.woken.size() == 10);
}

TEST_CASE("what questions of a namespace may say is bounded, but for one")
{
    MemoBed bed;
    auto large = [&](int i) {
        std::string text(9'000, 'x');
        DeviceRequest request = gpu_request("a");
        for (int k = 0; k < 32; k++)
            request.selectors.push_back(
                *CelSelector::parse(std::format("'{}{}' != '{}'", i, text, k)));
        return request;
    };
    for (int i = 0; i < 10; i++)
        bed.wish(large(i), "a", "g" + std::to_string(i));

    bed.wish(large(10), "a", "placed", true); // there is always room for one

    int asked = 0;
    while (bed.memo.next(bed.now) && asked < 20) {
        asked++;
        bed.memo.take(DeviceAnswer{}, bed.now);
    }
    CHECK(asked == 3 + 1); // of less than a megabyte, and that of "placed"
}
