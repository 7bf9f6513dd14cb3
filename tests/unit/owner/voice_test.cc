// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/voice.h"
#include "tests/unit/fakes/make.h"
#include "tests/unit/owner/owner_bed.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

constexpr std::size_t pod_count = 50;

// A gang whose Pods wait. The watch is the test's: it shows a Pod when asked.
struct Bed : OwnerBed {
    GangStore gangs;
    KnownNodes nodes;
    Voice voice{errands, gangs, nodes};
    std::string uid;

    Bed()
    {
        for (std::size_t i = 0; i < pod_count; i++) {
            Pod pod = make_member("t-" + std::to_string(i),
                                  std::to_string(pod_count));
            uid = gangs.put(kube.put(std::move(pod)));
        }
    }

    GangEntry &entry() { return *gangs.find(uid); }
    void say(const std::string &message) { voice.say(entry(), message); }

    // Runs that many tasks, and what follows on the owner thread.
    void report(std::size_t tasks)
    {
        for (; tasks > 0; tasks--)
            (*reporters.pop())(kube);
        answer();
    }
    void answer()
    {
        while (mailbox.size() != 0)
            std::get<Ask>(*mailbox.pop()).question();
    }
    void watch(const std::string &name)
    {
        Pod pod = there(name);
        pod.gang = entry().gang.pods.front()->gang;
        voice.check(pod);
        gangs.put(std::move(pod));
    }
    void watch_all()
    {
        for (const Pod &pod : kube.pods())
            watch(pod.key.name);
    }
    Pod there(const std::string &name)
    {
        return *kube.get_pod({"default", name});
    }
    std::size_t show(const std::string &message)
    {
        auto pods = kube.pods();
        return static_cast<std::size_t>(
            std::ranges::count_if(pods, [&](const Pod &pod) {
                return pod.scheduled.message == message;
            }));
    }
    std::size_t written() { return kube.count("set_unscheduled"); }
};

} // namespace

TEST_CASE("of messages that change quickly each Pod has one in the queue, the "
          "latest")
{
    Bed bed;
    for (int i = 0; i < 20; i++)
        bed.say("message " + std::to_string(i));
    CHECK(bed.reporters.size() == pod_count);

    bed.report(pod_count);
    CHECK(bed.reporters.size() == 0);
    CHECK(bed.written() == pod_count);
    CHECK(bed.show("message 19") == pod_count);
}

TEST_CASE("an older message that lands is followed by the latest, on that Pod "
          "alone")
{
    Bed bed;
    bed.say("A");
    // Workers have begun to write it when the message changes.
    auto first = bed.reporters.pop();
    auto second = bed.reporters.pop();
    (*first)(bed.kube);
    (*second)(bed.kube);
    bed.say("B");
    CHECK(bed.reporters.size() == pod_count - 2);
    CHECK(bed.show("A") == 2);

    SUBCASE("the watch shows it before its answer comes")
    {
        bed.watch_all();
        bed.say("B");
        bed.answer();
    }
    SUBCASE("its answer comes first")
    {
        bed.answer();
        bed.watch_all();
        bed.say("B");
    }
    SUBCASE("the watch shows it when the latest is refused for it")
    {
        bed.answer();
        bed.report(pod_count - 2);
        auto late = bed.reporters.pop();
        (*late)(bed.kube); // a conflict
        bed.watch_all();
        bed.say("B");
        bed.answer();
        CHECK(bed.reporters.size() == 2);
    }
    CHECK(bed.reporters.size() <= pod_count);
    bed.settle();
    bed.watch_all();
    bed.say("B");
    CHECK(bed.show("B") == pod_count);
    CHECK(bed.reporters.size() == 0);
}

TEST_CASE("what the watch does not show yet is not written again")
{
    Bed bed;
    bed.say("A");
    bed.settle();
    bed.entry().told.clear(); // somebody found it outdated
    bed.say("A");
    CHECK(bed.reporters.size() == 0);

    bed.watch_all();
    bed.entry().told.clear();
    bed.say("A");
    CHECK(bed.reporters.size() == 0);
}

TEST_CASE("a message that could not be written is repeated for that Pod alone")
{
    Bed bed;
    bed.kube.fail_next("set_unscheduled", Code::busy);
    bed.say("A");
    bed.settle();
    CHECK(bed.show("A") == pod_count - 1);

    SUBCASE("before the watch shows the others") {}
    SUBCASE("after it")
    {
        bed.watch_all();
    }
    bed.say("A");
    CHECK(bed.reporters.size() == 1);
    bed.settle();
    CHECK(bed.show("A") == pod_count);
}

TEST_CASE("a message that somebody else has replaced is written again")
{
    Bed bed;
    bed.say("A");
    bed.settle();
    bed.watch_all();
    bed.kube.change({"default", "t-7"},
                    [](Pod &pod) { pod.scheduled.message = "other"; });
    bed.watch("t-7");

    bed.say("A");
    CHECK(bed.reporters.size() == 1);
    bed.settle();
    CHECK(bed.show("A") == pod_count);
}

TEST_CASE("a message that was replaced before its answer came is written again")
{
    Bed bed;
    bed.say("A");
    auto running = bed.reporters.pop();
    (*running)(bed.kube);
    REQUIRE(bed.show("A") == 1);
    std::string name;
    for (const Pod &pod : bed.kube.pods())
        if (pod.scheduled.message == "A")
            name = pod.key.name;
    bed.kube.change({"default", name},
                    [](Pod &pod) { pod.scheduled.message = "other"; });
    bed.watch(name);

    bed.settle();
    bed.watch_all();
    bed.say("A");
    bed.settle();
    CHECK(bed.show("A") == pod_count);
}

TEST_CASE("a Pod that shows the message again gets no other one")
{
    Bed bed;
    bed.say("A");
    bed.settle();
    bed.watch_all();
    bed.say("B");

    SUBCASE("while the other one waits")
    {
        bed.say("A");
        bed.settle();
        CHECK(bed.written() == pod_count);
    }
    SUBCASE("while the other one is written")
    {
        auto running = bed.reporters.pop();
        (*running)(bed.kube);
        bed.say("A");
        bed.settle();
        CHECK(bed.show("B") == 1);
        bed.watch_all();
        bed.say("A");
        bed.settle();
    }
    bed.watch_all();
    CHECK(bed.show("A") == pod_count);
}

TEST_CASE("what waits when Pods are about to be bound is dropped, and what is "
          "said later is not")
{
    Bed bed;
    bed.say("A");
    bed.voice.hush(bed.entry());

    SUBCASE("they are bound")
    {
        bed.settle();
        CHECK(bed.written() == 0);
        CHECK(bed.reporters.size() == 0);
    }
    SUBCASE("they are not")
    {
        bed.say("A");
        CHECK(bed.reporters.size() == pod_count);
        bed.settle();
        CHECK(bed.show("A") == pod_count);
    }
}

TEST_CASE("a message that the API server cleans or cuts is said once")
{
    Bed bed;
    bed.say("line\nbreak \xff " + std::string(5000, 'x'));
    bed.settle();
    bed.watch_all();
    CHECK_FALSE(bed.entry().told.empty());
    CHECK(bed.reporters.size() == 0);
}

TEST_CASE("a Pod that is gone gets no message, and one that comes back does")
{
    Bed bed;
    bed.say("A");
    Pod pod = bed.there("t-3");
    bed.gangs.remove(pod);
    bed.voice.forget(pod.uid);
    bed.settle();
    CHECK(bed.show("A") == pod_count - 1);

    bed.watch_all(); // a list was wrong
    bed.say("B");
    bed.settle();
    CHECK(bed.show("B") == pod_count);
}
