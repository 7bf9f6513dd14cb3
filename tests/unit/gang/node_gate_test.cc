// SPDX-License-Identifier: GPL-2.0-or-later
// Which nodes are dirty while bindings are under way, which no watch shows yet.
// What follows from it is in tests/unit/flows/bridge_gate_test.cc.
#include "agent/gang/node_gate.h"

#include "agent/decide/decide.h"
#include "agent/gang/facts.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

// The Pod "web", which is being bound to kn1.
struct Binding {
    Binding()
    {
        gate.set_nodes({{"kn1", "kn1"}, {"kn2", "kn2"}}, {});
        gangs.put(make_pod("web"));
        GangEntry &entry = *gangs.find("uid-web");
        gangs.set_job(entry, make_job(7, JobState::configuring), {});
        entry.in_flight = Action(Bind{}).index();
        gate.record_binding(entry.gang, "uid-web", "kn1");
        REQUIRE(gate.dirty().empty()); // its job covers it
    }

    GangEntry &web() { return *gangs.find("uid-web"); }
    static Pod member(const char *name) { return make_member(name, "2"); }
    // A gang of the Pods "a" and "b", which has a job.
    GangEntry &train()
    {
        gangs.put(member("a"));
        GangEntry &entry = *gangs.find(gangs.put(member("b")));
        gangs.set_job(entry, make_job(8, JobState::configuring), {});
        return entry;
    }
    bool is_dirty() { return gate.dirty().contains("kn1"); }

    GangStore gangs;
    NodeGate gate{gangs};
};

} // namespace

TEST_CASE("a node is dirty whose Pod is being bound by a job that is in doubt")
{
    Binding binding;
    binding.web().gang.stale = true;
    binding.gate.touch_binding("uid-web");
    CHECK(binding.is_dirty());

    SUBCASE("until that is read")
    {
        binding.web().gang.stale = false;
        binding.gate.touch_binding("uid-web");
    }
    SUBCASE("until the binding has failed, whoever says so")
    {
        binding.web().in_flight.reset();
    }
    SUBCASE("until the gang is gone")
    {
        binding.gangs.erase("uid-web");
    }

    CHECK_FALSE(binding.is_dirty());
    binding.gate.touch_binding("uid-web");
    CHECK_FALSE(binding.is_dirty());
}

TEST_CASE("a binding that has ended is looked at as any Pod that lives there")
{
    Binding binding;
    binding.web().in_flight.reset();
    binding.gate.touch_binding("uid-web");
    CHECK_FALSE(binding.is_dirty());
    // The watch was slow: it was bound, and its job has ended since.
    binding.gangs.put(with_binding(make_pod("web"),
                                   make_job(7, JobState::configuring), "kn1"));
    binding.web().gang.job->state = JobState::cancelled;
    binding.gate.touch("kn1");

    CHECK(binding.is_dirty());
}

TEST_CASE("each node where a gang binds is looked at")
{
    Binding binding;
    GangEntry &train = binding.train();
    train.in_flight = Action(Bind{}).index();
    binding.gate.record_binding(train.gang, "uid-a", "kn1");
    binding.gate.record_binding(train.gang, "uid-b", "kn2");
    CHECK(binding.gate.dirty().empty());

    train.gang.stale = true;
    binding.gate.touch_binding(train.gang.uid);

    CHECK(binding.gate.dirty() == std::set<std::string>{"kn1", "kn2"});
}

TEST_CASE("of the gang's own Pods, those count that are seen on the node")
{
    Binding binding;
    GangEntry &train = binding.train();
    Node node = make_node("kn2");
    node.allocatable.cpu = MilliCpu{1500};
    auto room = [&] {
        return binding.gate.room_for(
            train.gang, amounts_of({train.gang.pods.back()}), "kn2", &node);
    };
    binding.gate.record_binding(train.gang, "uid-a", "kn2");
    train.in_flight = Action(Bind{}).index();
    CHECK(room() == NodeGate::Room::yes); // it may be asked for once more

    binding.gangs.put(with_binding(Binding::member("a"),
                                   make_job(8, JobState::configuring), "kn2"));
    CHECK(room() == NodeGate::Room::no); // two Pods of 1 CPU each
    node.allocatable.cpu = MilliCpu{2000};
    CHECK(room() == NodeGate::Room::yes);
}

TEST_CASE("who is let in goes by the bindings as they are then")
{
    Binding binding;
    Job job = make_job(9, JobState::configuring);
    job.nodes = {"kn1"};
    RoomAnswer full{
        .asked = {job.ref}, .nodes = {}, .jobs = {job}, .allocated = {}};
    binding.gate.wait(job.ref);
    binding.web().gang.stale = true; // and nobody has touched the node yet

    CHECK(binding.gate.admit(full).ordinary.empty());
    CHECK(binding.gate.someone_waits());
    binding.web().gang.stale = false;
    CHECK(binding.gate.admit(full).ordinary == std::vector{job.ref});
}
