// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/workers/keeper_bed.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("workers: a request drains the node, waits for its job, and is "
          "answered after that")
{
    KeeperBed bed;
    WorkerPod pod = bed.listed("w-0");
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
    REQUIRE(bed.turn().has_value());
    CHECK(bed.pods.protect["w-0"].empty());

    int writes = bed.pods.writes;
    REQUIRE(bed.turn().has_value());
    CHECK(bed.pods.writes == writes); // nothing has changed
}

TEST_CASE("workers: somebody resumes the node after the answer: it is taken "
          "back before the node is drained again")
{
    KeeperBed bed;
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
    KeeperBed bed;
    WorkerPod pod = bed.answered("w-0");

    pod = bed.seen(pod);
    pod.request = {2, false};
    bed.keeper.change(pod);
    bed.pods.away = true;
    REQUIRE(bed.turn().has_value());
    CHECK(bed.keeper.failure() == "away");
    CHECK(bed.slurm.node("w-0").drained);

    bed.pods.away = false;
    bed.rest();
    REQUIRE(bed.turn().has_value());
    CHECK_FALSE(bed.slurm.node("w-0").drained);
    CHECK(bed.answer("w-0") == "False");
}

TEST_CASE("workers: after slurmctld was away an answer rests on what is read "
          "afresh")
{
    KeeperBed bed;
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
    KeeperBed bed;
    bed.listed("w-0");

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
    KeeperBed bed;
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
    KeeperBed bed;
    bed.listed("w-0");
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
    KeeperBed bed("east");
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
    KeeperBed bed;
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
    KeeperBed bed;
    WorkerPod pod = bed.worker("w-0");
    pod.cordoned = true;
    bed.listed(pod);
    REQUIRE(bed.slurm.node("w-0").drained);

    pod.cordoned = false; // and it has lost its conditions, so one is written
    bed.keeper.change(pod);
    bed.pods.on_patch = [&] { bed.slurm.set_drained("w-0", "bad DIMM"); };
    REQUIRE(bed.turn().has_value());
    CHECK(bed.slurm.node("w-0").drained);
    CHECK(bed.slurm.node("w-0").reason == "bad DIMM");
}

TEST_CASE("workers: a Pod whose write hangs holds no other one, and its node "
          "is drained as asked")
{
    KeeperBed bed;
    bed.register_node("w-0");
    bed.register_node("w-1");
    std::vector<WorkerPod> pods;
    for (const char *name : {"w-0", "w-1"}) {
        pods.push_back(bed.worker(name, name));
        pods.back().request = {1, true};
    }
    bed.pods.hangs = "w-0";
    bed.keeper.list("slurm", pods, {});
    for (int i = 0; i < 3; i++)
        REQUIRE(bed.turn().has_value());
    CHECK(bed.answer("w-1") == "True");
    CHECK(bed.answer("w-0").empty());
    CHECK(bed.slurm.node("w-0").drained);
    CHECK(bed.pods.begun.size() == 1); // and no second one behind it

    bed.pods.hangs.clear();
    CHECK(bed.deliver());
    REQUIRE(bed.turn().has_value());
    CHECK(bed.answer("w-0") == "True");
}

TEST_CASE(
    "workers: a write that fails is tried again with pauses, another wish "
    "at once")
{
    KeeperBed bed;
    bed.register_node("w-0");
    WorkerPod pod = bed.worker("w-0");
    bed.pods.away = true;
    bed.keeper.list("slurm", {pod}, {});
    for (int i = 0; i < 60; i++)
        REQUIRE(bed.turn().has_value());
    CHECK(bed.pods.tries >= 4);
    CHECK(bed.pods.tries <= 12);

    int tries = bed.pods.tries;
    pod.request = {1, true};
    bed.keeper.change(pod);
    REQUIRE(bed.turn().has_value());
    CHECK(bed.pods.tries > tries);

    bed.pods.away = false;
    bed.rest();
    REQUIRE(bed.turn().has_value());
    CHECK(bed.keeper.failure().empty());
    CHECK(bed.answer("w-0") == "True");
}

TEST_CASE("workers: an answer that may have been written is taken back")
{
    KeeperBed bed;
    bed.register_node("w-0");
    WorkerPod pod = bed.worker("w-0");
    pod.request = {1, true};
    bed.keeper.list("slurm", {pod}, {});
    bed.one_turn();
    REQUIRE(bed.answer("w-0") == "False");
    bed.pods.lost = true;
    bed.one_turn();
    REQUIRE(bed.answer("w-0") == "True");

    bed.pods.lost = false;
    REQUIRE(bed.slurm.resume("w-0").has_value());
    // What the Pod carried before that write is what it should carry now.
    bed.one_turn();
    CHECK(bed.answer("w-0") == "False");
}

TEST_CASE("workers: what the watch tells during a write counts more than the "
          "write")
{
    KeeperBed bed;
    bed.register_node("w-0");
    WorkerPod pod = bed.worker("w-0");
    bed.keeper.list("slurm", {pod}, {});
    bed.now += 1s;
    REQUIRE(bed.keeper.turn(bed.now).has_value());
    // Somebody has taken the conditions away after that.
    bed.pods.on_patch = [&] { bed.keeper.change(pod); };
    CHECK(bed.deliver());
    bed.pods.on_patch = {};
    bed.pods.conditions.clear();
    REQUIRE(bed.turn().has_value());
    CHECK(bed.pods.conditions["w-0"]["slurmk8s/Registered"].status == "True");
}

TEST_CASE("workers: while slurmctld does not answer it is asked once a turn")
{
    KeeperBed bed;
    std::vector<WorkerPod> pods;
    for (int i = 0; i < 20; i++) {
        std::string name = "w-" + std::to_string(i);
        bed.register_node(name);
        pods.push_back(bed.worker(name, name));
        pods.back().cordoned = true;
    }
    bed.keeper.list("slurm", pods, {});
    bed.slurm.fail_next("drain", Code::busy);
    CHECK_FALSE(bed.turn().has_value());
    CHECK(bed.slurm.count("drain") == 1);
    REQUIRE(bed.turn().has_value());
    CHECK(bed.slurm.count("drain") == 21);
}

TEST_CASE("workers: a node counts as unprotected until its Pod has the label, "
          "and before that goes")
{
    KeeperBed bed;
    using Names = std::set<std::string>;
    WorkerPod pod = bed.worker("w-0");
    bed.keeper.list("slurm", {pod}, {});
    REQUIRE(bed.turn().has_value());
    CHECK(bed.keeper.unprotected() == Names{"w-0"}); // before it registers
    bed.register_node("w-0");
    REQUIRE(bed.turn().has_value());
    CHECK(bed.keeper.unprotected() == Names{"w-0"});

    JobRef job = bed.start_job();
    bed.pods.hangs = "w-0";
    REQUIRE(bed.turn().has_value());
    CHECK(bed.keeper.unprotected() == Names{"w-0"});
    bed.pods.hangs.clear();
    CHECK(bed.deliver());
    CHECK(bed.keeper.unprotected().empty());

    bed.slurm.scancel(job.id);
    REQUIRE(bed.turn().has_value());
    CHECK(bed.keeper.unprotected() == Names{"w-0"});
    CHECK(bed.pods.protect["w-0"] == "true");
    SUBCASE("no job comes")
    {
        REQUIRE(bed.turn().has_value());
        CHECK(bed.pods.protect["w-0"].empty());
        CHECK(bed.keeper.unprotected() == Names{"w-0"});
    }
    SUBCASE("a job comes meanwhile")
    {
        bed.start_job();
        REQUIRE(bed.turn().has_value());
        CHECK(bed.pods.protect["w-0"] == "true");
        CHECK(bed.keeper.unprotected().empty());
    }
}

TEST_CASE("workers: a node of the same name that is another's is not held")
{
    KeeperBed bed;
    WorkerPod pod = bed.worker("w-0");
    pod.addresses = {"10.0.0.8"};
    bed.listed(pod);
    CHECK(bed.keeper.unprotected().empty());
}

TEST_CASE("workers: one reading serves all that are asked in a turn")
{
    KeeperBed bed;
    bed.register_node("w-0");
    bed.register_node("w-1");
    std::vector<WorkerPod> pods;
    for (const char *name : {"w-0", "w-1"}) {
        pods.push_back(bed.worker(name, name));
        pods.back().request = {1, true};
    }
    bed.keeper.list("slurm", pods, {});
    bed.one_turn(); // drains them
    std::size_t loads = bed.slurm.count("load_cluster");
    bed.one_turn();
    CHECK(bed.answer("w-0") == "True");
    CHECK(bed.answer("w-1") == "True");
    CHECK(bed.slurm.count("load_cluster") == loads + 1);
}

TEST_CASE("workers: without workers slurmctld is asked for nothing")
{
    KeeperBed bed;
    REQUIRE(bed.turn().has_value());
    CHECK(bed.slurm.count("load_nodes") == 0);
}

TEST_CASE("workers: a node that waits for its slurmd is not protected, and is "
          "resumed by its registration")
{
    KeeperBed bed;
    NodeDescription node;
    node.name = "w-0";
    node.address = no_address;
    node.cpus = 4;
    node.features = "w";
    REQUIRE(bed.slurm.create_node(node).has_value());
    REQUIRE(bed.slurm.set_down("w-0", not_started_reason({"slurm", "w"}))
                .has_value());
    WorkerPod pod = bed.worker("w-0");
    bed.keeper.list("slurm", {pod}, {});
    REQUIRE(bed.turn().has_value());
    CHECK(bed.keeper.unprotected() == std::set<std::string>{"w-0"});
    CHECK(bed.slurm.node("w-0").down);

    bed.slurm.remove_node("w-0");
    bed.register_node("w-0");
    REQUIRE(bed.slurm.set_down("w-0", not_started_reason({"slurm", "w"}))
                .has_value());
    for (int i = 0; i < 2; i++)
        REQUIRE(bed.turn().has_value());
    CHECK_FALSE(bed.slurm.node("w-0").down);
}
