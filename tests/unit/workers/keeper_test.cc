// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/keeper.h"
#include "tests/unit/fakes/fake_slurm.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <vector>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

constexpr char drained_type[] = "slurmk8s/Drained";

// The API server: keeps what was written, and may be away.
class FakePods : public WorkerKube {
  public:
    Result<> patch(const WorkerPod &pod, const WorkerPatch &patch) override
    {
        if (away)
            return fail(Code::busy, "away");
        if (uid_of[pod.key.name] != pod.uid)
            return fail(Code::not_found, "another Pod");
        writes++;
        if (on_patch)
            on_patch();
        for (const auto &[type, condition] : patch.conditions)
            conditions[pod.key.name][type] = condition;
        if (patch.protect)
            protect[pod.key.name] = *patch.protect;
        return {};
    }

    bool away = false;
    std::function<void()> on_patch; // what happens meanwhile
    int writes = 0;
    std::map<std::string, std::string> uid_of;
    std::map<std::string, std::map<std::string, WorkerCondition>> conditions;
    std::map<std::string, std::string> protect;
};

struct Bed {
    FakeSlurm slurm;
    FakePods pods;
    WorkerKeeper keeper;
    Clock::time_point now{};

    explicit Bed(const std::string &controller = {})
        : keeper(slurm, pods, controller)
    {
    }

    // A worker whose slurmd has registered.
    WorkerPod worker(const std::string &name, const std::string &uid = "u1")
    {
        WorkerPod pod;
        pod.key = {"slurm", name};
        pod.uid = uid;
        pod.slurm_node = name;
        pod.addresses = {"10.0.0.7"};
        pod.placed = true;
        pods.uid_of[name] = uid;
        return pod;
    }

    void register_node(const std::string &name)
    {
        NodeDescription node;
        node.name = name;
        node.address = "10.0.0.7";
        node.cpus = 4;
        node.memory.value = 1000;
        node.features = "w";
        REQUIRE(slurm.create_node(node).has_value());
    }

    // As an external job, which its nodes are: slurmd is not played.
    JobRef start_job()
    {
        JobDescription job;
        job.features = "w";
        job.tag.uid = "u9";
        auto made = slurm.submit(job);
        REQUIRE(made.has_value());
        slurm.schedule();
        return *made;
    }

    Result<> turn()
    {
        now += 1s;
        return keeper.turn(now);
    }

    // A worker whose drain was asked for, and answered with True.
    WorkerPod answered(const std::string &name)
    {
        register_node(name);
        WorkerPod pod = worker(name);
        pod.request = {1, true};
        keeper.list("slurm", {pod}, {});
        for (int i = 0; i < 3; i++)
            REQUIRE(turn().has_value());
        REQUIRE(answer(name) == "True");
        return pod;
    }

    // What the API server has of the Pod, as the watch would tell it.
    WorkerPod seen(WorkerPod pod)
    {
        for (const auto &[type, condition] : pods.conditions[pod.key.name])
            pod.conditions[type] = condition;
        pod.protect = pods.protect[pod.key.name];
        return pod;
    }

    std::string answer(const std::string &name)
    {
        auto &all = pods.conditions[name];
        return all.contains(drained_type) ? all[drained_type].status : "";
    }
};

} // namespace

TEST_CASE("workers: a request drains the node, waits for its job, and is "
          "answered after that")
{
    Bed bed;
    bed.register_node("w-0");
    WorkerPod pod = bed.worker("w-0");
    bed.keeper.list("slurm", {pod}, {});
    REQUIRE(bed.turn().has_value());
    JobRef job = bed.start_job();
    REQUIRE(bed.turn().has_value());
    CHECK(bed.pods.protect["w-0"] == "true");

    pod = bed.seen(pod);
    pod.request = {1, true};
    bed.keeper.change(pod);
    REQUIRE(bed.turn().has_value());
    REQUIRE(bed.turn().has_value());
    CHECK(bed.slurm.node("w-0").drained);
    CHECK(bed.answer("w-0") == "False");

    bed.slurm.scancel(job.id);
    REQUIRE(bed.turn().has_value());
    CHECK(bed.answer("w-0") == "True");
    CHECK(bed.pods.protect["w-0"].empty());

    int writes = bed.pods.writes;
    REQUIRE(bed.turn().has_value());
    CHECK(bed.pods.writes == writes); // nothing has changed
}

TEST_CASE("workers: somebody resumes the node after the answer: it is taken "
          "back before the node is drained again")
{
    Bed bed;
    WorkerPod pod = bed.answered("w-0");

    REQUIRE(bed.slurm.resume("w-0").has_value());
    bed.slurm.fail_next("drain", Code::busy);
    CHECK_FALSE(bed.turn().has_value());
    CHECK(bed.answer("w-0") == "False");
    REQUIRE(bed.turn().has_value());
    CHECK(bed.slurm.node("w-0").drained);
    REQUIRE(bed.turn().has_value());
    CHECK(bed.answer("w-0") == "True");
}

TEST_CASE("workers: a node is not resumed while the answer cannot be taken "
          "back")
{
    Bed bed;
    WorkerPod pod = bed.answered("w-0");

    pod = bed.seen(pod);
    pod.request = {2, false};
    bed.keeper.change(pod);
    bed.pods.away = true;
    CHECK_FALSE(bed.turn().has_value());
    CHECK(bed.slurm.node("w-0").drained);

    bed.pods.away = false;
    REQUIRE(bed.turn().has_value());
    CHECK_FALSE(bed.slurm.node("w-0").drained);
    CHECK(bed.answer("w-0") == "False");
}

TEST_CASE("workers: after slurmctld was away an answer rests on what is read "
          "afresh")
{
    Bed bed;
    WorkerPod pod = bed.answered("w-0");

    bed.slurm.fail_next("load_nodes", Code::busy);
    CHECK_FALSE(bed.turn().has_value());
    std::size_t loads = bed.slurm.count("load_holders");
    REQUIRE(bed.turn().has_value());
    CHECK(bed.slurm.count("load_holders") > loads);
    CHECK(bed.answer("w-0") == "True");
}

TEST_CASE(
    "workers: the node of a Pod that is gone is DOWN, and comes back with "
    "the next one")
{
    Bed bed;
    bed.register_node("w-0");
    bed.keeper.list("slurm", {bed.worker("w-0")}, {});
    REQUIRE(bed.turn().has_value());

    SUBCASE("deleted")
    {
        bed.keeper.remove(bed.worker("w-0"));
    }
    SUBCASE("missing in a list")
    {
        bed.keeper.list("slurm", {}, {});
    }
    REQUIRE(bed.turn().has_value());
    CHECK(bed.slurm.node("w-0").down);
    CHECK(bed.slurm.node("w-0").reason ==
          "slurm-operator: Pod slurm/w-0 is gone");

    bed.keeper.change(bed.worker("w-0", "u2"));
    REQUIRE(bed.turn().has_value());
    CHECK_FALSE(bed.slurm.node("w-0").down);
}

TEST_CASE("workers: the news of an earlier Pod's end do not harm the one that "
          "has its name now")
{
    Bed bed;
    bed.register_node("w-0");
    bed.keeper.list("slurm", {bed.worker("w-0", "u2")}, {});
    REQUIRE(bed.turn().has_value());
    WorkerPod earlier = bed.worker("w-0", "u1");
    bed.pods.uid_of["w-0"] = "u2";
    bed.keeper.remove(earlier);
    REQUIRE(bed.turn().has_value());
    CHECK(bed.keeper.count() == 1);
    CHECK_FALSE(bed.slurm.node("w-0").down);
}

TEST_CASE("workers: a Pod that its NodeSet leaves behind is forgotten, and its "
          "node left alone")
{
    Bed bed;
    bed.register_node("w-0");
    bed.keeper.list("slurm", {bed.worker("w-0")}, {});
    REQUIRE(bed.turn().has_value());
    SUBCASE("told")
    {
        bed.keeper.disown({"slurm", "w-0"});
    }
    SUBCASE("in a list")
    {
        bed.keeper.list("slurm", {}, {"u1"});
    }
    REQUIRE(bed.turn().has_value());
    CHECK(bed.keeper.count() == 0);
    CHECK_FALSE(bed.slurm.node("w-0").down);
}

TEST_CASE("workers: Pods of another Controller are left to its agent")
{
    Bed bed("east");
    bed.register_node("w-0");
    WorkerPod ours = bed.worker("w-0");
    ours.controller = "east";
    WorkerPod other = bed.worker("w-1");
    other.controller = "west";
    other.request = {1, true};
    bed.keeper.list("slurm", {ours, other}, {});
    REQUIRE(bed.turn().has_value());
    CHECK(bed.keeper.count() == 1);
    CHECK(bed.pods.conditions.contains("w-0"));
    CHECK_FALSE(bed.pods.conditions.contains("w-1"));

    ours.controller = "west"; // it exists, and is not ours any more
    bed.keeper.change(ours);
    bed.keeper.list("slurm", {ours, other}, {});
    REQUIRE(bed.turn().has_value());
    CHECK(bed.keeper.count() == 0);
    CHECK_FALSE(bed.slurm.node("w-0").down);
}

TEST_CASE("workers: of a namespace with several Controllers none is served "
          "until k8s.conf names ours")
{
    Bed bed;
    bed.register_node("w-0");
    WorkerPod first = bed.worker("w-0");
    first.controller = "east";
    first.request = {1, true};
    WorkerPod second = bed.worker("w-1");
    second.controller = "west";
    WorkerPod elsewhere = bed.worker("x-0");
    elsewhere.key.ns = "more";
    elsewhere.controller = "west";
    bed.keeper.list("more", {elsewhere}, {});
    bed.keeper.list("slurm", {first, second}, {});
    auto done = bed.turn();
    REQUIRE_FALSE(done.has_value());
    CHECK(done.error().message.starts_with(
        "namespace slurm has workers of Controllers \"east\" and \"west\""));
    CHECK_FALSE(bed.slurm.node("w-0").drained);
    CHECK_FALSE(bed.pods.conditions.contains("w-0"));
    CHECK(bed.pods.conditions.contains("x-0"));

    bed.keeper.remove(second);
    REQUIRE(bed.turn().has_value());
    CHECK(bed.slurm.node("w-0").drained);
}

TEST_CASE("workers: a node that an administrator drains while its resume is on "
          "the way stays drained")
{
    Bed bed;
    bed.register_node("w-0");
    WorkerPod pod = bed.worker("w-0");
    pod.cordoned = true;
    bed.keeper.list("slurm", {pod}, {});
    REQUIRE(bed.turn().has_value());
    REQUIRE(bed.slurm.node("w-0").drained);

    pod = bed.seen(pod);
    pod.cordoned = false;
    bed.keeper.change(pod);
    bed.pods.on_patch = [&] { bed.slurm.set_drained("w-0", "bad DIMM"); };
    REQUIRE(bed.turn().has_value());
    CHECK(bed.slurm.node("w-0").drained);
    CHECK(bed.slurm.node("w-0").reason == "bad DIMM");
}

TEST_CASE("workers: one reading serves all that are asked in a turn")
{
    Bed bed;
    bed.register_node("w-0");
    bed.register_node("w-1");
    std::vector<WorkerPod> pods;
    for (const char *name : {"w-0", "w-1"}) {
        pods.push_back(bed.worker(name));
        pods.back().request = {1, true};
    }
    bed.keeper.list("slurm", pods, {});
    REQUIRE(bed.turn().has_value()); // drains them
    std::size_t loads = bed.slurm.count("load_cluster");
    REQUIRE(bed.turn().has_value());
    CHECK(bed.answer("w-0") == "True");
    CHECK(bed.answer("w-1") == "True");
    CHECK(bed.slurm.count("load_cluster") == loads + 1);
}

TEST_CASE("workers: without workers slurmctld is asked for nothing")
{
    Bed bed;
    REQUIRE(bed.turn().has_value());
    CHECK(bed.slurm.count("load_nodes") == 0);
}
