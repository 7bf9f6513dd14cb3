// SPDX-License-Identifier: GPL-2.0-or-later
// Pods that ask for certain Nodes: the features that Slurm's nodes get for it,
// and what happens when Nodes change under them.
#include "common/contract/names.h"
#include "tests/unit/fakes/world.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

PredicatePtr wants(const std::string &key, const std::string &value)
{
    return *Predicate::make({{{{key, false, NodeOperator::in, {value}}}}}, {});
}

Pod asking(const std::string &name, PredicatePtr predicate)
{
    Pod pod = make_pod(name);
    pod.predicate = std::move(predicate);
    return pod;
}

Node labelled(const std::string &name, const TextMap &labels)
{
    Node node = make_node(name);
    for (const auto &[key, value] : labels)
        node.labels[key] = value;
    return node;
}

Node tainted(const std::string &name)
{
    Node node = make_node(name);
    node.taints = {{"dedicated", "gpu", "NoSchedule"}};
    return node;
}

void change_node(World &world, const Node &node)
{
    for (Node &known : world.nodes)
        if (known.name == node.name)
            known = node;
    world.deliver(Changed<Node>{node, false});
}

// The one Node has the label that Pods ask for; "big" has all of it, and "web"
// waits.
struct FullNode : World {
    PredicatePtr ssd = wants("disk", "ssd");

    explicit FullNode(seconds feature_linger = seconds(300))
    {
        conf.feature_linger = feature_linger;
        nodes = {labelled("kn1", {{"disk", "ssd"}})};
        start_agent();
        Pod big = asking("big", ssd);
        big.requests.cpu = MilliCpu{16000};
        create(big);
        create(asking("web", ssd));
    }
};

bool has_feature(World &world, const std::string &node,
                 const std::string &feature)
{
    for (const SlurmNode &known : *world.slurm.load_nodes())
        if (known.name == node)
            return ("," + known.features + ",").contains("," + feature + ",");
    return false;
}

} // namespace

TEST_CASE("a Pod lands on the node that satisfies it, and only that has its "
          "feature")
{
    World world;
    world.nodes = {make_node("kn1"), labelled("kn2", {{"disk", "ssd"}})};
    world.start_agent();
    PredicatePtr ssd = wants("disk", "ssd");

    world.create(asking("web", ssd));

    CHECK(world.node_of("web") == "kn2");
    CHECK(world.slurm.job(1).asked.features == "k8s&" + ssd->feature());
    CHECK(has_feature(world, "kn2", ssd->feature()));
    CHECK_FALSE(has_feature(world, "kn1", ssd->feature()));
}

TEST_CASE("a Pod that no Node satisfies waits without a job until one does")
{
    World world;
    world.start_agent();

    world.create(asking("web", wants("disk", "ssd")));

    CHECK(world.slurm.count("submit") == 0);
    CHECK(world.said_on("web") ==
          "No Node satisfies disk=ssd: the Pod waits for one.");
    auto story = world.story({.pod = "web"});
    REQUIRE(story.has_value());
    CHECK(story->next == "wait");
    CHECK(story->reason.contains("disk=ssd"));
    change_node(world, labelled("kn2", {{"disk", "ssd"}}));
    CHECK(world.node_of("web") == "kn2");
    CHECK(world.slurm.count("submit") == 1);
}

TEST_CASE("a Pod without a wish keeps off a tainted node")
{
    World world;
    world.nodes = {tainted("kn1"), make_node("kn2")};
    world.start_agent();
    PredicatePtr tolerant = *Predicate::make({}, {{"dedicated", true, "", ""}});

    world.create("web");
    CHECK(world.node_of("web") == "kn2");
    change_node(world, tainted("kn2"));
    world.create("later");
    CHECK(world.said_on("later") ==
          "No Node without a taint can take the Pod: it waits for one.");
    world.create(asking("special", tolerant));
    CHECK_FALSE(world.node_of("special").empty());
    change_node(world, make_node("kn1"));
    CHECK(world.node_of("later") == "kn1");
}

TEST_CASE("a job that waits while its Node is changed is not bound wrongly")
{
    FullNode world;
    REQUIRE(world.node_of("big") == "kn1");
    CHECK(world.slurm.job(2).job.state == JobState::pending);

    change_node(world, make_node("kn1"));
    CHECK_FALSE(has_feature(world, "kn1", world.ssd->feature()));
    world.run_containers("big");
    world.end_containers("big", 0);
    world.pass(seconds(10));
    CHECK(world.node_of("web").empty());
    CHECK(world.said_on("web").contains("disk=ssd"));
    CHECK(world.slurm.job(2).job.state == JobState::pending);

    change_node(world, labelled("kn1", {{"disk", "ssd"}}));
    world.pass(seconds(10));
    CHECK(world.node_of("web") == "kn1");
    CHECK(world.slurm.count("submit") == 2);
}

TEST_CASE("a Node that changed after the allocation gets no Pod: a new job")
{
    World world;
    world.nodes = {labelled("kn1", {{"disk", "ssd"}}),
                   labelled("kn2", {{"disk", "ssd"}})};
    world.start_agent();
    PredicatePtr ssd = wants("disk", "ssd");
    world.kube.fail_next("bind", Code::busy);
    world.create(asking("web", ssd));
    REQUIRE(is_allocated(world.slurm.job(1).job.state));
    std::string first = world.slurm.job(1).job.nodes.front();

    change_node(world, make_node(first));
    world.pass(seconds(30));

    CHECK_FALSE(world.node_of("web").empty());
    CHECK(world.node_of("web") != first);
    CHECK(world.slurm.job(1).job.state == JobState::cancelled);
}

TEST_CASE("a feature that nobody asks for any more is taken off")
{
    World world;
    world.conf.feature_linger = seconds(60);
    world.nodes = {labelled("kn1", {{"disk", "ssd"}})};
    world.start_agent();
    PredicatePtr ssd = wants("disk", "ssd");
    world.create(asking("web", ssd));
    REQUIRE(world.node_of("web") == "kn1");

    world.pass(seconds(55));
    CHECK(has_feature(world, "kn1", ssd->feature()));
    world.pass(seconds(70));
    CHECK_FALSE(has_feature(world, "kn1", ssd->feature()));
    CHECK(has_feature(world, "kn1", names::untainted_feature));
    world.create(asking("again", ssd));
    CHECK(world.node_of("again") == "kn1");
}

TEST_CASE("a feature stays as long as a Pod waits for it")
{
    FullNode world(seconds(10));

    auto before = world.slurm.count("set_features");
    world.pass(seconds(120));

    CHECK(has_feature(world, "kn1", world.ssd->feature()));
    CHECK(world.slurm.count("set_features") == before);
}

TEST_CASE("a new agent keeps the features that waiting jobs ask for")
{
    FullNode world;
    auto before = world.slurm.count("set_features");

    world.start_agent();
    world.pass(seconds(5));

    CHECK(has_feature(world, "kn1", world.ssd->feature()));
    CHECK(world.slurm.count("set_features") == before);
    CHECK(world.slurm.count("submit") == 2);
}

TEST_CASE("a new agent takes off what no Pod asks for")
{
    World world;
    world.nodes = {make_node("kn1")};
    world.start_agent();
    REQUIRE(world.slurm.set_features("kn1", "k8s,k8s-untainted,k8s-old", "k8s")
                .has_value());

    world.start_agent();
    world.pass(seconds(5));

    CHECK_FALSE(has_feature(world, "kn1", "k8s-old"));
}

TEST_CASE("slurmctld forgot the features: they are set again when it is back")
{
    FullNode world;

    world.cut_socket();
    REQUIRE(world.slurm.set_features("kn1", "k8s", "k8s").has_value());
    world.connect_socket();
    world.pass(seconds(5));

    CHECK(has_feature(world, "kn1", world.ssd->feature()));
}

// slurmctld refuses what no node has, and holds what no node of the partition
// has.
TEST_CASE("no job asks for a feature that slurmctld may have forgotten")
{
    World world;
    world.nodes = {labelled("kn1", {{"disk", "ssd"}})};
    world.start_agent();
    PredicatePtr ssd = wants("disk", "ssd");
    world.create(asking("first", ssd));
    REQUIRE(world.node_of("first") == "kn1");
    auto forget = [&] {
        REQUIRE(world.slurm.set_features("kn1", "k8s", "k8s").has_value());
    };

    SUBCASE("while its plugin is away")
    {
        world.cut_socket();
        forget();
        world.create(asking("web", ssd));
    }
    SUBCASE("when it is back")
    {
        world.cut_socket();
        forget();
        world.connect_socket();
        world.create(asking("web", ssd));
    }
    SUBCASE("whatever a sync says that was under way")
    {
        world.calls_hang = true;
        change_node(world, labelled("kn1", {{"disk", "ssd"}, {"mem", "64"}}));
        world.cut_socket();
        world.settle();
        world.calls_hang = false;
        world.step(1); // that sync has seen the feature
        forget();
        world.create(asking("web", ssd));
    }
    world.pass(seconds(4)); // none is refused, and tried again

    CHECK(world.node_of("web") == "kn1");
    CHECK(world.slurm.count("submit") == 2);
    CHECK_FALSE(world.said_on("web").contains("Invalid feature"));
}

TEST_CASE("while slurmctld's nodes cannot be read no job is asked for")
{
    FullNode world;
    world.slurm.fail_always("load_nodes", Code::busy);
    world.cut_socket();
    world.connect_socket();
    world.create(asking("new", world.ssd));
    world.pass(seconds(10));
    CHECK(world.slurm.count("submit") == 2);

    world.slurm.heal("load_nodes");
    world.pass(seconds(5));
    CHECK(world.slurm.count("submit") == 3);
}

TEST_CASE("a mere reconnect changes no job that waits, and no word on its Pod")
{
    FullNode world;
    Pod prefers = make_pod("prefers", MilliCpu{16000});
    prefers.preferred = world.ssd;
    world.create(prefers);
    world.create(asking("nowhere", wants("disk", "tape")));
    REQUIRE_FALSE(world.slurm.job(3).asked.prefer.empty());
    auto reconnect = [&] {
        world.cut_socket();
        world.connect_socket();
        world.pass(seconds(10));
    };
    auto calls = [&](const char *what) { return world.slurm.count(what); };
    auto features = calls("set_features");
    reconnect(); // brings a list with reasons, which are said
    auto said = world.kube.count("post_event");

    reconnect();

    CHECK(calls("submit") == 3);
    CHECK(calls("cancel") == 0);
    CHECK(calls("set_features") == features);
    CHECK(world.kube.count("post_event") == said);
    for (JobId id : {2u, 3u})
        CHECK(world.slurm.job(id).job.state == JobState::pending);
    CHECK(world.said_on("nowhere").contains("disk=tape"));
}

TEST_CASE("a preference is taken along where some node has it")
{
    World world;
    world.nodes = {make_node("kn1"), labelled("kn2", {{"disk", "ssd"}})};
    world.start_agent();
    PredicatePtr ssd = wants("disk", "ssd");
    PredicatePtr tape = wants("disk", "tape");

    Pod web = make_pod("web");
    web.preferred = ssd;
    world.create(web);
    CHECK(world.slurm.job(1).asked.prefer == "k8s&" + ssd->feature());
    CHECK(world.slurm.job(1).asked.features == "k8s&k8s-untainted");
    Pod other = make_pod("other");
    other.preferred = tape;
    world.create(other);
    CHECK(world.slurm.job(2).asked.prefer.empty());
    CHECK_FALSE(world.node_of("other").empty());
}

TEST_CASE("a toleration that is added while the job waits counts")
{
    World world;
    world.nodes = {tainted("kn1"), make_node("kn2", 1)};
    world.start_agent();
    world.create("first");
    world.create("web");
    REQUIRE(world.node_of("first") == "kn2");
    REQUIRE(world.slurm.job(2).job.state == JobState::pending);

    world.kube.change({"default", "web"}, [](Pod &pod) {
        pod.predicate = *Predicate::make({}, {{"dedicated", true, "", ""}});
    });
    world.pass(seconds(10));

    CHECK(world.node_of("web") == "kn1");
    CHECK(world.slurm.job(2).job.state == JobState::cancelled);
}

TEST_CASE("a job that is held for its preference is replaced by one without")
{
    World world;
    world.nodes = {labelled("kn1", {{"disk", "ssd"}})};
    world.start_agent();
    Pod big = make_pod("big");
    big.requests.cpu = MilliCpu{16000};
    world.create(big);
    Pod web = make_pod("web");
    web.preferred = wants("disk", "ssd");
    world.create(web);
    REQUIRE_FALSE(world.slurm.job(2).asked.prefer.empty());

    world.slurm.hold_for_preference(2);
    world.pass(seconds(60));

    CHECK(world.slurm.job(2).job.state == JobState::cancelled);
    CHECK(world.slurm.job(3).asked.prefer.empty());
    CHECK(world.pod("web")->phase == "Pending");
}

TEST_CASE("a running Pod whose Node suits it no longer is adopted where it is")
{
    World world;
    world.conf.resync_interval = seconds(10);
    world.nodes = {labelled("kn1", {{"disk", "ssd"}})};
    world.start_agent();
    world.create(asking("web", wants("disk", "ssd")));
    world.run_containers("web");
    change_node(world, tainted("kn1"));

    world.slurm.purge(1);
    world.pass(seconds(30));

    CHECK(world.pod("web")->phase == "Running");
    CHECK(world.slurm.job(2).job.state == JobState::running);
    CHECK(world.allocation_count() == 1);
}

TEST_CASE("a Pod of a namespace that has its share of selections says so, and "
          "waits")
{
    World world;
    world.conf.max_selections_in_namespace = 1;
    world.conf.feature_linger = seconds(10);
    world.nodes = {labelled("kn1", {{"disk", "ssd"}}), make_node("kn2")};
    world.start_agent();

    world.create(asking("tape", wants("disk", "tape")));
    world.create(asking("web", wants("disk", "ssd")));
    CHECK(world.said_on("tape").contains("disk=tape"));
    CHECK(world.said_on("web").contains("MaxNodeSelectionsPerNamespace=1"));
    CHECK(world.slurm.count("submit") == 0);
    world.create("plain");
    CHECK_FALSE(world.node_of("plain").empty());
    world.pass(seconds(60));
    CHECK(world.node_of("web").empty());

    world.delete_as_user("tape");
    world.pass(seconds(60));
    CHECK(world.node_of("web") == "kn1");
}

TEST_CASE("selections that no Node satisfies leave room for those of others")
{
    World world;
    world.nodes = {labelled("kn1", {{"disk", "ssd"}}), make_node("kn2")};
    for (const char *ns : {"n0", "n1", "n2", "n3", "late"})
        world.namespaces.push_back({ns, {}, {}});
    for (int i = 4; i < 100; i++) // they divide the reserve
        world.namespaces.push_back({"n" + std::to_string(i), {}, {}});
    world.start_agent();
    auto create_in = [&](const std::string &ns, const std::string &name,
                         PredicatePtr predicate) {
        Pod pod = asking(name, std::move(predicate));
        pod.key.ns = ns;
        pod.uid = "uid-" + ns + "-" + name;
        world.kube.put(pod);
        return pod.key;
    };
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 100; k++)
            create_in("n" + std::to_string(i), "p" + std::to_string(k),
                      wants("k" + std::to_string(i), std::to_string(k)));
    world.settle();
    world.pass(seconds(1));

    ObjectKey first = create_in("late", "first", wants("disk", "hdd"));
    ObjectKey second = create_in("late", "second", wants("disk", "ssd"));
    world.settle();
    CHECK(world.kube.find(second)->bound());
    CHECK(world.kube.find(first)->scheduled.message.contains("disk=hdd"));
}

TEST_CASE("new selections of one namespace are set a few seconds apart")
{
    World world;
    TextMap labels;
    for (int i = 0; i < 40; i++)
        labels["l" + std::to_string(i)] = "yes";
    world.nodes = {make_node("kn1", 64)};
    world.nodes[0].labels.merge(labels);
    world.namespaces.push_back({"other", {}, {}});
    world.start_agent();
    auto before = world.slurm.count("set_features");
    auto create = [&](int i) {
        world.create(asking("p" + std::to_string(i),
                            wants("l" + std::to_string(i), "yes")));
        world.now += std::chrono::milliseconds(100);
    };
    for (int i = 0; i < 30; i++)
        create(i);

    CHECK(world.slurm.count("set_features") - before <=
          SelectionPace::at_once + 1);
    Pod theirs = asking("theirs", wants("l30", "yes"));
    theirs.key.ns = "other";
    theirs.uid = "uid-theirs";
    world.create(theirs);
    CHECK(world.kube.find(theirs.key)->bound());
    world.pass(seconds(10));
    for (int i = 0; i < 30; i++)
        CHECK(world.node_of("p" + std::to_string(i)) == "kn1");
}

namespace {

// Nodes of 16 CPUs that are looked at as often as a site's.
struct Sized : World {
    Sized()
    {
        conf.node_interval = seconds(5);
        conf.resize_delay = seconds(1);
        start_agent();
    }

    void check_waits_without_job(const std::string &name)
    {
        CHECK(slurm.count("submit") == 0);
        CHECK(said_on(name).contains("cpu=40"));
        CHECK(said_on(name).contains("cpu=16"));
    }
};

} // namespace

TEST_CASE("a Pod that is too large for every node gets no job and its numbers")
{
    Sized world;
    world.create(make_pod("huge", MilliCpu{40000}));
    world.pass(seconds(60));

    world.check_waits_without_job("huge");
    CHECK(world.kube.count("post_event") == 1); // and is told once
    auto story = world.story({.pod = "huge"});
    REQUIRE(story.has_value());
    CHECK(story->next == "wait");
}

TEST_CASE("a large Node that joins, or one that grows, wakes the Pod")
{
    Sized world;
    world.create(make_pod("huge", MilliCpu{40000}));
    world.check_waits_without_job("huge");

    SUBCASE("joins")
    {
        world.nodes.push_back(make_node("kn9", 64));
        world.deliver(Changed<Node>{world.nodes.back(), false});
        world.pass(seconds(10));
        CHECK(world.node_of("huge") == "kn9");
    }
    SUBCASE("grows")
    {
        world.change_node("kn2",
                          [](Node &n) { n.allocatable.cpu = MilliCpu{48000}; });
        world.pass(seconds(20));
        CHECK(world.node_of("huge") == "kn2");
    }
    CHECK(world.slurm.count("submit") == 1);
}

TEST_CASE("a large node that is down, or drained, is large all the same")
{
    World world;
    world.conf.node_interval = seconds(5);
    world.nodes = {make_node("kn1"), make_node("kn2", 64)};
    world.start_agent();
    world.slurm.set_drained("kn2", "disk");
    world.pass(seconds(10));

    world.create(make_pod("huge", MilliCpu{40000}));

    CHECK(world.slurm.count("submit") == 1);
    CHECK(world.only_job().job.state == JobState::pending);
}

TEST_CASE("only the nodes that a Pod may have count")
{
    World world;
    world.nodes = {make_node("kn1", 64), labelled("kn2", {{"disk", "ssd"}})};
    world.start_agent();
    Pod huge = asking("huge", wants("disk", "ssd"));
    huge.requests.cpu = MilliCpu{40000};

    world.create(huge);

    CHECK(world.slurm.count("submit") == 0);
    CHECK(world.said_on("huge").contains("kn2 with cpu=16"));
}

TEST_CASE("status has its Pods in the order of their names")
{
    World world;
    world.start_agent();
    for (const char *name : {"c", "a", "d", "b"})
        world.create(name);

    std::string status = world.status();

    std::size_t at = 0;
    for (const char *name : {"a", "b", "c", "d"}) {
        std::size_t next = status.find(std::string("default/") + name);
        CHECK(next != status.npos);
        CHECK(next >= at);
        at = next;
    }
}
