// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/decide.h"
#include "common/contract/worker_names.h"

#include <doctest/doctest.h>
#include <string>

extern "C" {
#include <slurm/slurm.h>
}

using namespace bridge;

namespace {

constexpr char drained_type[] = "slurmk8s/Drained";
constexpr char registered_type[] = "slurmk8s/Registered";

struct Worker {
    WorkerPod pod;
    SlurmNode record;
    WorkerFacts facts;

    Worker()
    {
        pod.key = {"slurm", "w-0"};
        pod.uid = "u1";
        pod.addresses = {"10.0.0.7"};
        pod.placed = true;
        pod.slurm_node = "w-0";
        record.name = "w-0";
        record.address = "10.0.0.7";
        set_state(NODE_STATE_IDLE);
        facts.record = &record;
        facts.jobs = NodeJobs{};
        facts.slurmctld = 1800;
        facts.read = 1900;
    }

    void set_state(std::uint32_t state, const std::string &reason = {})
    {
        record.state = state;
        record.drained = state & NODE_STATE_DRAIN;
        record.down = (state & NODE_STATE_BASE) == NODE_STATE_DOWN;
        record.reason = reason;
    }

    void ask(std::uint64_t number = 3) { pod.request = {number, true}; }

    WorkerPlan plan() const { return plan_worker(pod, facts); }
    WorkerCondition answer() const
    {
        auto conditions = plan().conditions;
        return conditions.contains(drained_type) ? conditions.at(drained_type)
                                                 : WorkerCondition{};
    }
};

constexpr char ours[] = "slurm-operator: Pod slurm/w-0 is to be removed";

} // namespace

TEST_CASE("worker: states and flags of its node are conditions, and those that "
          "it had become False")
{
    Worker worker;
    worker.set_state(NODE_STATE_MIXED | NODE_STATE_DRAIN, "bad fan");
    worker.pod.conditions["SlurmNodeStateIdle"] = {"True", "SlurmNodeState",
                                                   ""};

    auto conditions = worker.plan().conditions;

    CHECK(conditions.at("SlurmNodeStateMixed").status == "True");
    CHECK(conditions.at("SlurmNodeStateDrain").status == "True");
    CHECK(conditions.at("SlurmNodeStateDrain").message == "bad fan");
    CHECK(conditions.at("SlurmNodeStateIdle").status == "False");
    CHECK_FALSE(conditions.contains("SlurmNodeStateDown"));
}

TEST_CASE("worker: it is registered if its node has its address and responds")
{
    Worker worker;
    auto registered = [&] {
        return worker.plan().conditions.at(registered_type);
    };
    CHECK(registered().status == "True");
    worker.set_state(NODE_STATE_IDLE | NODE_STATE_DRAIN, "bad fan");
    CHECK(registered().status == "True");

    worker.set_state(NODE_STATE_IDLE | NODE_STATE_NO_RESPOND);
    CHECK(registered().reason == "NotResponding");
    CHECK(registered().message == "slurmd does not answer slurmctld");
    worker.set_state(NODE_STATE_DOWN, "bad fan");
    CHECK(registered().reason == "Down");
    CHECK(registered().message == "the node is DOWN: bad fan");
}

TEST_CASE("worker: that it is not registered is said in words")
{
    Worker worker;
    auto said = [&] {
        auto all = worker.plan().conditions;
        CHECK(all.at(registered_type).status == "False");
        CHECK(all.at(registered_type).reason == "NotRegistered");
        return all.at(registered_type).message;
    };
    worker.record.address = "10.0.0.6"; // of an earlier Pod
    CHECK(said().starts_with("slurmctld has node w-0 at 10.0.0.6, "));

    worker.facts.record = nullptr;
    CHECK(said() == "slurmctld has no node w-0: slurmd has not registered yet");
    worker.pod.addresses.clear();
    CHECK(said() == "the Pod has no address yet");
    worker.pod.over = true;
    CHECK(said() == "the Pod has ended");
}

TEST_CASE("worker: a node with jobs is protected, with the time of their end")
{
    Worker worker;
    worker.set_state(NODE_STATE_ALLOCATED);
    worker.facts.jobs =
        NodeJobs{2, std::chrono::sys_seconds(std::chrono::seconds(1))};
    CHECK(worker.plan().protect == "true");
    CHECK(worker.plan().deadline == "1970-01-01T00:00:01Z");

    worker.facts.jobs = NodeJobs{1, {}}; // without a time limit
    CHECK(worker.plan().deadline == "9999-12-31T23:59:59Z");

    worker.set_state(NODE_STATE_IDLE); // as with a suspended job
    CHECK(worker.plan().protect == "true");

    worker.facts.jobs = NodeJobs{};
    CHECK(worker.plan().protect.empty());
    CHECK(worker.plan().deadline.empty());
}

TEST_CASE("worker: a node is drained for a request, a cordon and a deletion, "
          "and resumed when nothing asks for it any more")
{
    Worker worker;
    CHECK(worker.plan().step == WorkerStep::none);

    SUBCASE("request")
    {
        worker.ask();
    }
    SUBCASE("cordon")
    {
        worker.pod.cordoned = true;
    }
    SUBCASE("deletion")
    {
        worker.pod.ending = true;
    }
    auto plan = worker.plan();
    CHECK(plan.step == WorkerStep::drain);
    CHECK(plan.reason.starts_with("slurm-operator: Pod slurm/w-0 is "));

    worker.set_state(NODE_STATE_IDLE | NODE_STATE_DRAIN, plan.reason);
    CHECK(worker.plan().step == WorkerStep::none);

    worker.pod.request.drain = false;
    worker.pod.cordoned = worker.pod.ending = false;
    CHECK(worker.plan().step == WorkerStep::resume);
}

TEST_CASE("worker: what others have drained is neither drained again nor "
          "resumed")
{
    Worker worker;
    worker.set_state(NODE_STATE_IDLE | NODE_STATE_DRAIN, "bad fan");
    CHECK(worker.plan().step == WorkerStep::none);
    worker.ask();
    CHECK(worker.plan().step == WorkerStep::none);
}

TEST_CASE("worker: the node of an earlier Pod of that name is left alone")
{
    Worker worker;
    worker.record.address = "10.0.0.6";
    worker.ask();
    CHECK(worker.plan().step == WorkerStep::none);
    worker.pod.addresses.clear(); // it has none yet
    worker.record.address.clear();
    CHECK(worker.plan().step == WorkerStep::none);
}

TEST_CASE("worker: a node that was set DOWN for an earlier Pod comes back with "
          "the new one")
{
    Worker worker;
    worker.set_state(NODE_STATE_DOWN, "slurm-operator: Pod slurm/w-0 is gone");
    CHECK(worker.plan().step == WorkerStep::resume);
    worker.set_state(NODE_STATE_DOWN, "bad fan");
    CHECK(worker.plan().step == WorkerStep::none);
}

TEST_CASE("worker: a Pod whose slurmd has ended has a node that is DOWN")
{
    Worker worker;
    worker.pod.over = true;
    CHECK(worker.plan().step == WorkerStep::down);
    worker.set_state(NODE_STATE_DOWN, "slurm-operator: Pod slurm/w-0 is gone");
    CHECK(worker.plan().step == WorkerStep::none);
}

TEST_CASE("worker: a request is answered with True only by what was read after "
          "the drain")
{
    Worker worker;
    worker.ask();
    CHECK(worker.answer().reason == "Draining");

    worker.set_state(NODE_STATE_MIXED | NODE_STATE_DRAIN, ours);
    CHECK(worker.answer().reason == "JobsRunning");
    worker.set_state(NODE_STATE_IDLE | NODE_STATE_DRAIN | NODE_STATE_COMPLETING,
                     ours);
    CHECK(worker.answer().reason == "JobsRunning");

    worker.set_state(NODE_STATE_IDLE | NODE_STATE_DRAIN, ours);
    CHECK(worker.answer().reason == "Checking");
    CHECK(worker.plan().needs_fresh);

    worker.facts.fresh = true;
    worker.facts.jobs = NodeJobs{1, {}}; // a suspended one
    CHECK(worker.answer().reason == "JobsRunning");

    worker.facts.jobs = NodeJobs{};
    auto plan = worker.plan();
    CHECK(plan.drained);
    CHECK(worker.answer() ==
          WorkerCondition{"True", "Drained",
                          "uid=u1 request=3 slurmctld=1800 read=1900"});
}

TEST_CASE("worker: an answer stands while the node stays as it is, and is "
          "taken back when somebody resumes it")
{
    Worker worker;
    worker.ask();
    worker.set_state(NODE_STATE_IDLE | NODE_STATE_DRAIN, ours);
    worker.facts.confirmed = true;
    CHECK(worker.plan().drained);
    CHECK_FALSE(worker.plan().needs_fresh);

    worker.set_state(NODE_STATE_IDLE);
    auto plan = worker.plan();
    CHECK_FALSE(plan.drained);
    CHECK(plan.conditions.at(drained_type).status == "False");
    CHECK(plan.step == WorkerStep::drain);
}

TEST_CASE("worker: an answer goes when the request goes")
{
    Worker worker;
    worker.pod.conditions[drained_type] = {"True", "Drained", "x"};
    CHECK(worker.answer().reason == "NotRequested");
    worker.pod.conditions.clear();
    CHECK(worker.answer().status.empty());
}

TEST_CASE(
    "worker: without a node of its own a Pod that may run may not go: its "
    "slurmd may register at any moment")
{
    Worker worker;
    worker.ask();
    worker.facts.fresh = true;
    SUBCASE("no record")
    {
        worker.facts.record = nullptr;
    }
    SUBCASE("a record with another address")
    {
        worker.set_state(NODE_STATE_MIXED);
        worker.record.address = "10.9.9.9";
    }
    SUBCASE("the Pod's address is not told yet")
    {
        worker.pod.addresses.clear();
    }
    CHECK(worker.answer().reason == "NotRegistered");
    CHECK(worker.answer().status == "False");

    worker.pod.placed = false; // it is on no Node
    CHECK(worker.answer().status == "True");
}

TEST_CASE("worker: an IPv4 address that slurmctld shows as an IPv6 one is the "
          "Pod's")
{
    Worker worker;
    worker.record.address = "::ffff:10.0.0.7";
    worker.ask();
    CHECK(worker.plan().step == WorkerStep::drain);
    worker.record.address = "fd00::7";
    CHECK(worker.plan().step == WorkerStep::none);
    worker.pod.addresses.push_back("fd00::7");
    CHECK(worker.plan().step == WorkerStep::drain);
}

TEST_CASE("worker: a node that somebody has set DOWN keeps that reason, and is "
          "not resumed")
{
    Worker worker;
    worker.set_state(NODE_STATE_DOWN, "bad disk");
    worker.ask();
    CHECK(worker.plan().step == WorkerStep::none);
    worker.facts.fresh = true;
    CHECK(worker.answer().status == "True"); // it takes no jobs

    worker.pod.request.drain = false;
    // DOWN without a reason, over a drain of ours.
    worker.set_state(NODE_STATE_DOWN | NODE_STATE_DRAIN, ours);
    CHECK(worker.plan().step == WorkerStep::none);
}

TEST_CASE("workers: what the Node says of the Slurm node is given to it, once")
{
    Worker worker;
    worker.record.features = "w,k8s/old,big";
    CHECK(worker.plan().features == "w,big"); // nobody says it any more
    worker.pod.features = "fast, new ,";
    worker.pod.topology = "default:s1";
    auto plan = worker.plan();
    CHECK(plan.features == "w,big,k8s/fast,k8s/new");
    CHECK(plan.topology == "default:s1");
    worker.record.features = *plan.features;
    worker.record.topology = *plan.topology;
    plan = worker.plan();
    CHECK_FALSE(plan.features);
    CHECK_FALSE(plan.topology);
    worker.record.features = "k8s/new,w,k8s/fast";
    CHECK_FALSE(worker.plan().features);
}

TEST_CASE("workers: features that would be read as something else are left out")
{
    Worker worker;
    worker.record.features = "w";
    worker.pod.features = "a&b,c|d,[e],f g,ok,h(2)";
    CHECK(worker.plan().features == "w,k8s/ok");
    worker.record.address = "10.0.0.8"; // another Pod's
    CHECK_FALSE(worker.plan().features);
}

TEST_CASE("workers: reasons that last say whether the record is to go")
{
    SlurmNode record;
    record.drained = true;
    auto pod = [&](const std::string &reason) {
        record.reason = reason;
        auto found = gone_for_good(record);
        return found ? found->str() : "";
    };
    const std::string begin = "slurm-operator: Pod ";
    CHECK(pod(begin + "slurm/w-0 is gone for good") == "slurm/w-0");
    CHECK(pod(begin + "slurm/w-0 is to be removed for good") == "slurm/w-0");
    for (const char *other :
         {"slurm/w-0 is gone", "slurm/w-0 is to be removed", "slurm/w-0",
          "w-0 is gone for good", " is gone for good", "",
          "slurm/w-0 is gone for good, they say"})
        CHECK_MESSAGE(pod(begin + other) == "", other);
    CHECK(pod("Pod slurm/w-0 is gone for good") == "");
    record.drained = false;
    CHECK(pod(begin + "slurm/w-0 is gone for good") == "");
}

TEST_CASE("workers: a drain of ours says what the request says now")
{
    Worker worker;
    worker.ask();
    worker.set_state(NODE_STATE_IDLE | NODE_STATE_DRAIN, ours);
    CHECK(worker.plan().step == WorkerStep::none);
    worker.pod.for_good = true;
    CHECK(worker.plan().step == WorkerStep::drain);
    CHECK(worker.plan().reason == std::string(ours) + " for good");
    worker.set_state(NODE_STATE_IDLE | NODE_STATE_DRAIN,
                     std::string(ours) + " for good");
    CHECK(worker.plan().step == WorkerStep::none);
    worker.pod.for_good = false;
    CHECK(worker.plan().step == WorkerStep::drain);
    worker.set_state(NODE_STATE_IDLE | NODE_STATE_DRAIN, "bad DIMM");
    worker.pod.for_good = true;
    CHECK(worker.plan().step == WorkerStep::none);
}
