// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/scale.h"
#include "tests/unit/operator/make.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

std::string names_of(const std::vector<Slot> &slots)
{
    std::string text;
    for (const Slot &one : slots)
        text += (text.empty() ? "" : " ") + one.pod;
    return text;
}

// The names of Pods, with blanks between them.
std::string names_of(const std::vector<const Worker *> &workers)
{
    std::string text;
    for (const Worker *one : workers)
        text += (text.empty() ? "" : " ") + one->meta.key.name;
    return text;
}

constexpr Now moment{std::chrono::seconds(1010)};

struct Planned {
    Known known;
    NodeSet set;
    ScalePlan plan;

    Planned(std::size_t wanted, std::initializer_list<Worker> pods)
        : known(known_with(node_set(3), pods)), set(node_set(3)),
          plan(plan_scale(set, workers_of(known, set), {wanted, {}, false},
                          moment))
    {
    }

    bool is_quiet() const
    {
        return plan.create.empty() && plan.ask.empty() &&
               plan.release.empty() && plan.remove.empty();
    }
};

Worker asked(int ordinal, std::uint64_t number = 1)
{
    Worker made = worker(ordinal);
    made.request = WorkerRequest{number, true};
    return made;
}

Worker answered(int ordinal)
{
    Worker made = asked(ordinal);
    made.answer = DrainAnswer{made.meta.uid, 1, 1, 1000};
    return made;
}

Worker ended(int ordinal)
{
    Worker made = worker(ordinal);
    made.phase = "Failed";
    return made;
}

Worker going(Worker made)
{
    made.meta.deleting = true;
    return made;
}

} // namespace

TEST_CASE(
    "an answer is relied on for a while; after that the Pod is asked again")
{
    Worker one = answered(1);
    CHECK(names_of(Planned(1, {worker(0), one}).plan.remove) == "w-1");
    for (std::uint64_t read : {979u, 1041u}) { // 31 s before and after
        one.answer->read = read;
        Planned planned(1, {worker(0), one});
        CHECK(planned.plan.remove.empty());
        CHECK(names_of(planned.plan.ask) == "w-1");
        CHECK(planned.plan.waiting.size() == 1);
    }
    one.answer->read = 1040;
    CHECK(names_of(Planned(1, {worker(0), one}).plan.remove) == "w-1");
}

TEST_CASE("as many Pods as wanted: nothing to do")
{
    CHECK(Planned(2, {worker(0), worker(1)}).is_quiet());
    CHECK(Planned(0, {}).is_quiet());
}

TEST_CASE("the lowest free ordinals are created")
{
    CHECK(names_of(Planned(3, {worker(1)}).plan.create) == "w-0 w-2");
    CHECK(Planned(1000, {}).plan.create.size() == most_steps);
}

TEST_CASE("a Pod that is being deleted or has ended comes back by its name")
{
    CHECK(Planned(2, {worker(0), going(worker(1))}).is_quiet());
    Planned failed(2, {worker(0), ended(1)});
    CHECK(names_of(failed.plan.remove) == "w-1");
    CHECK(failed.plan.create.empty());
    CHECK(Planned(2, {worker(0), going(ended(1))}).is_quiet());
}

TEST_CASE("a Pod that goes on our behalf does not come back")
{
    CHECK(Planned(1, {worker(0), going(answered(1))}).is_quiet());
    CHECK(names_of(Planned(2, {worker(0), going(answered(1))}).plan.create) ==
          "w-2");
}

TEST_CASE("too many Pods: those are asked whose end costs least")
{
    Worker unbound = worker(0);
    unbound.node.clear();
    unbound.phase = "Pending";
    unbound.ready = false;
    Worker not_ready = worker(1);
    not_ready.ready = false;
    Worker busy = worker(4);
    busy.meta.labels[names::protect_label] = "true";
    Planned one(4, {unbound, not_ready, worker(2), worker(3), busy});
    CHECK(names_of(one.plan.ask) == "w-0");
    Planned four(1, {unbound, not_ready, worker(2), worker(3), busy});
    CHECK(names_of(four.plan.ask) == "w-0 w-1 w-3 w-2");
    CHECK(four.plan.remove.empty());
    CHECK(four.plan.waiting.size() == 4);
}

TEST_CASE("of busy nodes the one with the earliest deadline goes first")
{
    auto until = [](int ordinal, const char *time) {
        Worker made = worker(ordinal);
        made.meta.labels[names::protect_label] = "true";
        made.meta.annotations[names::deadline_annotation] = time;
        return made;
    };
    Planned planned(1, {until(0, "2026-01-01T10:00:00Z"),
                        until(1, "2026-01-01T11:00:00Z")});
    CHECK(names_of(planned.plan.ask) == "w-0");
}

TEST_CASE("the cost that somebody gives comes before the deadline")
{
    Worker cheap = worker(0);
    cheap.meta.annotations[names::deletion_cost_annotation] = "-5";
    Worker wrong = worker(1);
    wrong.meta.annotations[names::deletion_cost_annotation] = "-9999999999";
    CHECK(names_of(Planned(2, {cheap, wrong, worker(2)}).plan.ask) == "w-0");
}

TEST_CASE("who was asked stays asked, and waits")
{
    Planned planned(1, {asked(0), worker(1)});
    CHECK(planned.is_quiet());
    CHECK(planned.plan.waiting == std::vector<std::string>{"w-0"});
}

TEST_CASE("only the answer to the request that stands, of this Pod, lets it go")
{
    CHECK(names_of(Planned(1, {worker(0), answered(1)}).plan.remove) == "w-1");
    Worker other_uid = answered(1);
    other_uid.answer->uid = "uid-0";
    CHECK(Planned(1, {worker(0), other_uid}).is_quiet());
    Worker older = answered(1);
    older.request->number = 2;
    CHECK(Planned(1, {worker(0), older}).is_quiet());
    Worker not_asked = worker(1);
    not_asked.answer = DrainAnswer{"uid-1", 1, 1};
    CHECK(names_of(Planned(1, {worker(0), not_asked}).plan.ask) == "w-1");
    Worker kept = answered(1);
    kept.request->drain = false;
    CHECK(Planned(1, {worker(0), kept}).plan.remove.empty());
}

TEST_CASE("a request is taken back when the Pod is wanted again")
{
    Planned planned(2, {worker(0), answered(1)});
    CHECK(names_of(planned.plan.release) == "w-1");
    CHECK(planned.plan.remove.empty());
    CHECK(next_request(answered(1)) == 2);
    CHECK(next_request(worker(1)) == 1);
}

TEST_CASE("Pods of other NodeSets, and of nobody, are left alone")
{
    Worker foreign = worker(0);
    foreign.meta.controller = "another-uid";
    Worker orphan = worker(1);
    orphan.meta.controller.clear();
    CHECK(Planned(0, {foreign, orphan}).is_quiet());
}

TEST_CASE("each round asks for a bounded number of things")
{
    Known known = known_with(node_set(0), {});
    for (int i = 0; i < 200; i++)
        known.workers[worker(i).meta.key] = worker(i);
    NodeSet set = node_set(0);
    auto plan = plan_scale(set, workers_of(known, set), {}, moment);
    CHECK(plan.ask.size() == most_steps);
    CHECK(plan.waiting.size() == 200);
}
