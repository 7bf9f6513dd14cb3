// SPDX-License-Identifier: GPL-2.0-or-later
// Drain and cordon between both sides, and Pods of other schedulers, through
// the whole agent.
#include "tests/unit/fakes/world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

ForeignPod other_pod(const std::string &uid, const std::string &node,
                     std::int64_t cpus)
{
    return {uid, node, {MilliCpu{cpus * 1000}, Bytes{0}}};
}

// One that looks at Slurm's nodes as often as a site's does.
struct Watching : World {
    Watching() { conf.node_interval = seconds(5); }
};

void check_quiet(World &world)
{
    std::size_t patches = world.kube.count("patch_node");
    std::size_t drains = world.slurm.count("drain");
    std::size_t resumes = world.slurm.count("resume");
    world.pass(seconds(30));
    CHECK(world.kube.count("patch_node") == patches);
    CHECK(world.slurm.count("drain") == drains);
    CHECK(world.slurm.count("resume") == resumes);
}

} // namespace

TEST_CASE(
    "a drain in Slurm cordons the Node and nothing answers that, until the "
    "node is resumed")
{
    Watching world;
    world.start_agent();
    world.slurm.set_drained("kn1", "disk");
    world.pass(seconds(6));
    CHECK(world.node("kn1").unschedulable);
    CHECK(world.node("kn1").annotation(names::cordon_mark) == "DRAIN: disk");
    check_quiet(world);

    world.start_agent(); // the mark is all that it needs
    check_quiet(world);
    CHECK(world.slurm.node("kn1").reason == "disk");

    world.slurm.resume_by_hand("kn1");
    world.pass(seconds(6));
    CHECK_FALSE(world.node("kn1").unschedulable);
    CHECK_FALSE(world.slurm.node("kn1").drained);
    check_quiet(world);
}

TEST_CASE(
    "a cordon drains in Slurm and nothing answers that, until the Node is "
    "uncordoned")
{
    Watching world;
    world.start_agent();
    world.change_node("kn1", [](Node &n) { n.unschedulable = true; });
    world.settle();
    CHECK(world.slurm.node("kn1").drained);
    CHECK(world.node("kn1").annotations.empty());
    check_quiet(world);
    world.change_node("kn1", [](Node &n) { n.unschedulable = false; });
    world.settle();
    CHECK_FALSE(world.slurm.node("kn1").drained);
    check_quiet(world);
}

TEST_CASE(
    "both at once: each side's own mark stays until that side takes it back")
{
    Watching world;
    world.start_agent();
    world.slurm.set_drained("kn1", "disk");
    world.change_node("kn1", [](Node &n) { n.unschedulable = true; });
    world.pass(seconds(6));
    CHECK(world.node("kn1").annotations.empty()); // the cordon is theirs
    CHECK(world.slurm.node("kn1").reason == "disk");
    world.slurm.resume_by_hand("kn1");
    world.pass(seconds(6));
    CHECK(world.node("kn1").unschedulable);
    CHECK(world.slurm.node("kn1").drained); // now because of the cordon
    CHECK(world.slurm.node("kn1").reason.starts_with(names::drain_mark));
    check_quiet(world);
}

TEST_CASE("a patch that comes too late is made again of the newer Node")
{
    Watching world;
    world.start_agent();
    world.kube.fail_next("patch_node", Code::conflict);
    world.slurm.set_drained("kn1", "disk");
    world.pass(seconds(12));
    CHECK(world.node("kn1").unschedulable);
}

TEST_CASE("the taint is on Nodes with the label, and goes with it")
{
    Watching world;
    world.conf.taint_nodes = true;
    world.start_agent();
    world.pass(seconds(6));
    CHECK(world.node("kn1").taints.size() == 1);
    check_quiet(world);
    world.change_node(
        "kn1", [](Node &n) { n.labels.erase(names::external_node_label); });
    world.settle();
    CHECK(world.node("kn1").taints.empty());
    CHECK(world.node("kn1").annotations.empty());
    CHECK(world.node("kn2").taints.size() == 1);
    check_quiet(world);
}

TEST_CASE("no Pod is bound where Pods of others have taken the room since")
{
    Watching world;
    world.nodes = {make_node("kn1", 4)};
    world.start_agent();
    world.slurm.sbatch(1); // the node is busy: it keeps its size
    world.slurm.schedule();
    world.deliver(Changed<ForeignPod>{other_pod("d", "kn1", 2), false});
    Pod pod = make_pod("web", MilliCpu{3000});
    world.create(pod);
    world.pass(seconds(5));
    CHECK(world.node_of("web").empty());

    world.deliver(Changed<ForeignPod>{other_pod("d", "kn1", 2), true});
    world.pass(seconds(10));
    CHECK(world.node_of("web") == "kn1");
}

TEST_CASE("Pods on Slurm's nodes outside of its queue are a metric")
{
    Watching world;
    world.start_agent();
    auto outside = [&](const char *count) {
        return world.metrics().contains(
            std::string("\nslurmk8sd_pods_outside_queue ") + count + "\n");
    };
    CHECK(outside("0"));
    ForeignPod free = other_pod("free", "kn1", 0);
    free.outside_queue = true;
    world.deliver(Changed<ForeignPod>{free, false});
    world.deliver(Changed<ForeignPod>{other_pod("daemon", "kn1", 1), false});
    free.uid = "elsewhere"; // on a Node that is not Slurm's
    free.node = "other";
    world.deliver(Changed<ForeignPod>{free, false});
    CHECK(outside("1"));
    free.uid = "free";
    world.deliver(Changed<ForeignPod>{free, true});
    CHECK(outside("0"));
}

TEST_CASE("no node is made before Pods of others are listed")
{
    Watching world;
    world.foreign = {other_pod("d", "kn1", 2)};
    world.start_agent();
    CHECK(world.slurm.node("kn1").cpus == 14);
    CHECK(world.slurm.node("kn2").cpus == 16);
}

// That there are none is news, too.
TEST_CASE(
    "a node is made anew once it is known that there are no Pods of others")
{
    Watching world;
    world.conf.resize_delay = seconds(1);
    world.nodes = {make_node("kn1", 16)};
    world.start_agent();
    REQUIRE(world.slurm.node("kn1").cpus == 16);

    world.nodes = {make_node("kn1", 8)};
    world.start_agent_unlisted();
    for (const std::string &name : world.conf.scheduler_names)
        world.deliver(Listed<Pod>{name, {}});
    world.deliver(Listed<Node>{"", world.nodes});
    world.deliver(Listed<Namespace>{"", world.namespaces});
    world.pass(seconds(20));
    CHECK(world.slurm.node("kn1").cpus == 16);

    world.deliver(Listed<ForeignPod>{"", {}});
    world.pass(seconds(20));
    CHECK(world.slurm.node("kn1").cpus == 8);
}

TEST_CASE(
    "a second Node with the name of another's Slurm node is told so, once")
{
    Watching world;
    world.start_agent();
    Node thief = make_node("a-thief");
    thief.labels[names::slurm_nodename_label] = "kn1";
    world.nodes.push_back(thief);
    world.deliver(Changed<Node>{thief, false});
    world.pass(seconds(30));
    auto events = world.kube.events();
    CHECK(std::ranges::count_if(events, [](const auto &event) {
              return event.second.reason == "SlurmNodeRefused";
          }) == 1);
}
