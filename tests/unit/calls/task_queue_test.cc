// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/task_queue.h"
#include "tests/unit/fakes/fake_kube.h"

#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace bridge;

namespace {

struct Bed {
    TaskQueue queue{};
    FakeKube kube{};
    std::vector<std::string> done{};

    void push(const std::string &lane, const std::string &what)
    {
        queue.push([this, what](Kube &) { done.push_back(what); }, lane);
    }

    void run(std::size_t tasks)
    {
        for (; tasks > 0; tasks--)
            (*queue.pop())(kube);
    }
};

} // namespace

TEST_CASE("thousands of tasks of one lane delay another by one task")
{
    Bed bed;
    for (int i = 0; i < 3000; i++)
        bed.push("crowd", "crowd");
    bed.push("other", "other");
    bed.push("", "own");
    CHECK(bed.queue.size() == 3002);

    bed.run(3);
    CHECK(bed.done == std::vector<std::string>{"own", "crowd", "other"});

    bed.run(2999);
    CHECK(bed.queue.size() == 0);
    bed.push("crowd", "last");
    bed.run(1);
    CHECK(bed.done.back() == "last");
}

TEST_CASE("tasks of one lane that take long leave threads to others")
{
    Bed bed{.queue = TaskQueue(2)};
    for (const char *what : {"a1", "a2", "a3"})
        bed.push("a", what);
    auto first = bed.queue.pop(); // a thread that is busy with it
    auto second = bed.queue.pop();
    for (const char *what : {"b1", "b2"})
        bed.push("b", what);
    bed.push("", "all");

    bed.run(3);
    CHECK(bed.done == std::vector<std::string>{"all", "b1", "b2"});
    CHECK(bed.queue.size() == 1);

    (*second)(bed.kube);
    second.reset();
    bed.run(1);
    CHECK(bed.done.back() == "a3");
    CHECK(bed.queue.size() == 0);
}

TEST_CASE("a closed queue gives out all of its tasks, and then none")
{
    Bed bed{.queue = TaskQueue(1)};
    bed.push("a", "a1");
    bed.push("a", "a2");
    auto first = bed.queue.pop();
    bed.queue.close();
    std::jthread other([&] { (*bed.queue.pop())(bed.kube); });
    first.reset();
    other.join();
    CHECK(bed.done == std::vector<std::string>{"a2"});
    CHECK_FALSE(bed.queue.pop());
}

// Each thread takes one more task, sees that it is to stop, and ends.
TEST_CASE("all who wait at a queue that is closed come back")
{
    Bed bed{.queue = TaskQueue(3)};
    for (int i = 0; i < 20; i++)
        bed.push("a", "a");
    std::vector<std::optional<Task>> running;
    for (int i = 0; i < 3; i++)
        running.push_back(bed.queue.pop());
    std::vector<std::jthread> waiting;
    for (int i = 0; i < 6; i++)
        waiting.emplace_back([&] { bed.queue.pop(); });
    bed.queue.close();
    running.clear();
    for (std::jthread &thread : waiting)
        thread.join();
    CHECK(bed.queue.size() == 11);
}

TEST_CASE("a lane keeps the order of its tasks")
{
    Bed bed;
    for (const char *what : {"a1", "a2", "a3"})
        bed.push("a", what);
    for (const char *what : {"b1", "b2"})
        bed.push("b", what);

    bed.run(5);

    CHECK(bed.done == std::vector<std::string>{"a1", "b1", "a2", "b2", "a3"});
}

// It would have a turn in each of them.
TEST_CASE("a lane that comes and goes is not ahead of the others")
{
    Bed bed;
    for (int i = 0; i < 3; i++)
        bed.push("b", "b");
    bed.push("a", "a");
    bed.run(2);
    bed.push("a", "a");
    bed.run(2);

    CHECK(bed.done == std::vector<std::string>{"b", "a", "b", "a"});
}

TEST_CASE("what serves no single namespace has every second turn")
{
    Bed bed;
    for (const char *lane : {"a", "b", "c"})
        bed.push(lane, lane);
    for (int i = 0; i < 4; i++)
        bed.push("", "all");

    bed.run(7);

    CHECK(bed.done ==
          std::vector<std::string>{"all", "a", "all", "b", "all", "c", "all"});
}
