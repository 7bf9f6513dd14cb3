// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/workers.h"
#include "tests/unit/fakes/fake_kube.h"

#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>
#include <future>
#include <stdexcept>
#include <vector>

using namespace bridge;

namespace {

std::unique_ptr<Kube> make_fake()
{
    return std::make_unique<FakeKube>();
}

} // namespace

TEST_CASE("one worker does its tasks in the order in which they came")
{
    Workers workers(1, make_fake);
    std::vector<int> done;
    std::promise<void> last;
    for (int i = 0; i < 100; i++)
        workers.tasks().push([&done, i](Kube &) { done.push_back(i); });
    workers.tasks().push([&](Kube &) { last.set_value(); });

    last.get_future().wait();

    REQUIRE(done.size() == 100);
    CHECK(std::ranges::is_sorted(done));
}

TEST_CASE("each worker has a connection of its own")
{
    Workers workers(2, make_fake);
    std::promise<Kube *> first;
    std::promise<Kube *> second;
    std::promise<void> both;
    std::shared_future<void> go = both.get_future().share();

    workers.tasks().push([&first, go](Kube &kube) {
        first.set_value(&kube);
        go.wait(); // so the other task is another worker's
    });
    workers.tasks().push([&second, go](Kube &kube) {
        second.set_value(&kube);
        go.wait();
    });

    Kube *one = first.get_future().get();
    Kube *other = second.get_future().get();
    CHECK(one != other);
    both.set_value();
}

TEST_CASE("a stop waits for what has begun and drops the rest")
{
    Workers workers(1, make_fake);
    std::promise<void> begun;
    bool finished = false;
    bool dropped = true;
    workers.tasks().push([&](Kube &) {
        begun.set_value();
        workers.tasks().pop(); // until the stop has come
        workers.tasks().push([&](Kube &) { dropped = false; });
        finished = true;
    });
    begun.get_future().wait();

    workers.stop();

    CHECK(finished);
    CHECK(dropped);
}

TEST_CASE("a task that throws takes nobody with it")
{
    Workers workers(1, make_fake);
    std::promise<void> after;
    workers.tasks().push([](Kube &) { throw std::runtime_error("a test"); });
    workers.tasks().push([&](Kube &) { after.set_value(); });

    after.get_future().wait();

    CHECK(workers.tasks().size() == 0);
}

TEST_CASE("workers can be stopped twice and need no task")
{
    Workers workers(4, make_fake);
    workers.stop();
    workers.stop();
    Workers idle(0, make_fake);
}

TEST_CASE("each task gives way to what is more urgent")
{
    std::atomic<int> looks = 0;
    Workers workers(1, make_fake, [&] { return ++looks < 4; });
    std::promise<int> first;
    std::promise<int> second;

    workers.tasks().push([&](Kube &) {
        workers.tasks().push([&](Kube &) { second.set_value(looks); });
        first.set_value(looks);
    });

    CHECK(first.get_future().get() == 4);
    CHECK(second.get_future().get() == 5);
}

TEST_CASE("no task gives way for ever")
{
    Workers workers(1, make_fake, [] { return true; });
    std::promise<void> first;
    std::promise<void> second;

    workers.tasks().push([&](Kube &) { first.set_value(); });
    workers.tasks().push([&](Kube &) { second.set_value(); });

    first.get_future().wait();
    second.get_future().wait();
}

TEST_CASE("workers are busy while a task waits or runs")
{
    Workers workers(1, make_fake);
    CHECK_FALSE(workers.busy());
    std::promise<void> begun;
    std::promise<void> end;
    workers.tasks().push([&](Kube &) {
        begun.set_value();
        end.get_future().wait();
    });
    begun.get_future().wait();

    CHECK(workers.tasks().size() == 0);
    CHECK(workers.busy());

    end.set_value();
    workers.stop();
    CHECK_FALSE(workers.busy());
}
