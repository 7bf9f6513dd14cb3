// SPDX-License-Identifier: GPL-2.0-or-later
// From what a Pod, its owner and its namespace ask for to the job or to the
// sentence on the Pod.
#include "tests/unit/fakes/world.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

Pod wishing(const std::string &name, const TextMap &annotations)
{
    Pod pod = make_pod(name);
    pod.annotations = annotations;
    return pod;
}

// A world where nothing starts: each job waits.
struct Queue : World {
    explicit Queue(unsigned all, std::optional<unsigned> in_namespace = 0)
    {
        kill_agent();
        conf.max_pending_jobs = all;
        conf.max_pending_in_namespace = in_namespace;
        nodes = {make_node("kn1", 1)};
        start_agent();
        create("running"); // has the only CPU
        run_containers("running");
    }

    std::size_t submits() const { return slurm.count("submit"); }

    void add_namespace(const std::string &name)
    {
        namespaces.push_back({name, {}, {}});
        send_lists();
    }

    Pod create_in(const std::string &ns, const std::string &name)
    {
        Pod there = make_pod(name);
        there.key.ns = ns;
        there.uid = "uid-" + ns + "-" + name;
        return create(there);
    }

    void create_held(const std::string &name)
    {
        create(wishing(name, {{"slurmk8s/priority", "0"}}));
    }
};

} // namespace

TEST_CASE("what a Pod asks for is in the job")
{
    World world;
    world.start_agent();
    world.create(wishing(
        "web", {{"slurmk8s/qos", "high"}, {"slurmk8s/licenses", "foo:2"}}));
    const JobDescription &asked = world.only_job().asked;
    CHECK(asked.qos == "high");
    CHECK(asked.licenses == "foo:2");
}

TEST_CASE("what its owner asks for is, too, and a bad wish there is named")
{
    World world;
    world.start_agent();
    world.kube.workloads["uid-job"] = {
        "uid-job", {{"slurmk8s/wckey", "key"}}, {}};
    Pod pod = make_pod("web");
    pod.owner = {"batch/v1", "Job", "job", "uid-job"};
    world.create(pod);
    CHECK(world.only_job().asked.wckey == "key");

    world.kube.workloads["uid-bad"] = {
        "uid-bad", {{"slurmk8s/nice", "very"}}, {}};
    Pod other = make_pod("other");
    other.owner = {"batch/v1", "Job", "bad", "uid-bad"};
    world.create(other);
    CHECK(world.said_on("other").contains("slurmk8s/nice"));
    CHECK(world.slurm.count("submit") == 1);
}

TEST_CASE("a partition for root alone is refused where a Pod names it")
{
    World world;
    world.start_agent();
    world.slurm.root_only = "admins";
    world.create(wishing("web", {{"slurmk8s/partition", "admins"}}));
    CHECK(world.said_on("web").contains("RootOnly"));
    CHECK(world.slurm.count("submit") == 0);
}

TEST_CASE("what Slurm refuses is said with all that was asked for")
{
    World world;
    world.start_agent();
    world.slurm.fail_next("submit", Code::rejected);
    world.create(wishing("web", {{"slurmk8s/licenses", "none:1"}}));
    CHECK(world.said_on("web").contains("requested: licenses=none:1"));
}

TEST_CASE("no more Pods than MaxPendingJobs wait in Slurm")
{
    Queue queue(2);
    for (const char *name : {"a", "b", "c", "d"})
        queue.create(name);
    CHECK(queue.submits() == 3); // with the one that runs
    CHECK(queue.said_on("c").contains("MaxPendingJobs=2"));
    CHECK(queue.said_on("d").contains("MaxPendingJobs=2"));
    CHECK(queue.metrics().contains("{where=\"line\"} 2"));

    SUBCASE("one that is deleted makes room")
    {
        queue.delete_as_user("a");
        queue.finish_deletion("a");
        CHECK(queue.submits() == 4);
    }
    SUBCASE("one that starts makes room")
    {
        queue.end_containers("running", 0);
        CHECK(queue.submits() == 4);
        CHECK(queue.node_of("a") == "kn1");
        CHECK(queue.metrics().contains("{where=\"line\"} 1"));
    }
    SUBCASE("one that leaves the line makes none")
    {
        queue.delete_as_user("c");
        queue.finish_deletion("c");
        CHECK(queue.submits() == 3);
        queue.end_containers("running", 0);
        CHECK(queue.submits() == 4);
        CHECK(queue.metrics().contains("{where=\"line\"} 0"));
    }
    SUBCASE("another agent counts what waits in Slurm already")
    {
        queue.start_agent();
        queue.pass(std::chrono::seconds(10));
        CHECK(queue.submits() == 3);
        queue.end_containers("running", 0);
        CHECK(queue.submits() == 4);
    }
    SUBCASE("a wider limit lets all in")
    {
        Conf wider = queue.conf;
        wider.max_pending_jobs = 0;
        queue.deliver(Reload{std::make_shared<const Conf>(wider)});
        queue.settle();
        CHECK(queue.submits() == 5);
    }
}

TEST_CASE("a Pod whose job could not be asked for once stands in line")
{
    Queue queue(1);
    queue.slurm.fail_next("submit", Code::busy);
    queue.create("early");
    queue.create("first");
    queue.pass(std::chrono::seconds(5));
    queue.create("late");

    queue.end_containers("running", 0); // and "first" runs

    CHECK(queue.slurm.job(2).asked.tag.gang == "default/first");
    CHECK(queue.slurm.job(3).asked.tag.gang == "default/early");
    CHECK(queue.said_on("late").contains("MaxPendingJobs=1"));
}

TEST_CASE("a namespace that is full holds nobody of another back")
{
    Queue queue(0, 1);
    queue.namespaces.push_back({"other", {}, {}});
    queue.send_lists();
    queue.create("a");
    queue.create("b");
    CHECK(queue.said_on("b").contains("MaxPendingJobsPerNamespace=1"));
    Pod there = make_pod("c");
    there.key.ns = "other";
    there.uid = "uid-other";
    queue.create(there);
    CHECK(queue.submits() == 3);
}

TEST_CASE("a Pod whose job was refused holds no place in the queue")
{
    Queue queue(1);
    queue.slurm.fail_next("submit", Code::rejected);
    queue.create("a");
    queue.create("b");
    CHECK(queue.submits() == 3);
    CHECK(queue.said_on("b") == "");
}

TEST_CASE("held Pods of a namespace keep nobody out, and say why they wait")
{
    Queue queue(10, std::nullopt); // a share of 2, of which 1 may be held
    queue.add_namespace("other");
    for (const char *name : {"h0", "h1", "h2"})
        queue.create_held(name);
    CHECK(queue.submits() == 2); // with the one that runs
    CHECK(queue.said_on("h1").contains("by their own wish"));
    CHECK(queue.said_on("h1").contains("MaxPendingJobs=10"));

    queue.create("awake");
    CHECK(queue.submits() == 3);
    queue.create("more");
    CHECK(queue.said_on("more").contains("its share is 2, by "
                                         "MaxPendingJobs=10"));
    queue.create_in("other", "theirs");
    CHECK(queue.submits() == 4);

    auto told = queue.story({"more", 0});
    REQUIRE(told.has_value());
    CHECK(told->in_line);

    // One that is released is as the others, as soon as a list shows it.
    queue.slurm.release(2);
    queue.pass(std::chrono::seconds(60));
    queue.delete_as_user("awake");
    queue.finish_deletion("awake");
    CHECK(queue.slurm.job(5).asked.tag.gang == "default/h1");
    CHECK(queue.submits() == 5);
}

TEST_CASE("a dependency or a later begin is a Pod's own wish, too, also where "
          "its owner asks for it")
{
    Queue queue(20, std::nullopt); // a share of 4, of which 2 may wait so
    queue.kube.workloads["uid-job"] = {
        "uid-job", {{"slurmk8s/begin", "now+30days"}}, {}};
    for (const char *name : {"p0", "p1"}) {
        Pod pod = make_pod(name);
        pod.created = std::chrono::time_point_cast<std::chrono::seconds>(
            std::chrono::system_clock::now());
        pod.owner = {"batch/v1", "Job", "job", "uid-job"};
        queue.create(pod);
    }
    CHECK(queue.submits() == 3);

    Pod later = wishing("later", {{"slurmk8s/begin", "now+2hours"}});
    queue.create(later);
    CHECK(queue.said_on("later").contains("by their own wish"));
    queue.create(wishing("next", {{"slurmk8s/dependency", "afterok:1"}}));
    CHECK(queue.said_on("next").contains("by their own wish"));
    queue.create(wishing("now", {{"slurmk8s/begin", "now"}}));
    CHECK(queue.submits() == 4);
}

TEST_CASE("many namespaces that fill the queue leave a place for another one")
{
    Queue queue(10, std::nullopt);
    for (int i = 0; i < 6; i++)
        queue.add_namespace("n" + std::to_string(i));
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 5; k++)
            queue.create_in("n" + std::to_string(i), "p" + std::to_string(k));
    // The one that runs, four shares of 2, and one of the reserve.
    CHECK(queue.submits() == 10);

    queue.create_in("n5", "late");
    CHECK(queue.submits() == 11);
    queue.create("also");
    CHECK(queue.said_on("also").contains("MaxPendingJobs=10"));
}

TEST_CASE("thousands of submits of one namespace delay another by one")
{
    World world;
    world.namespaces.push_back({"other", {}, {}});
    for (int i = 0; i < 500; i++)
        world.kube.put(make_pod("p" + std::to_string(i)));
    Pod late = make_pod("late");
    late.key.ns = "other";
    late.uid = "uid-z"; // the last to be decided
    world.kube.put(late);

    world.start_agent();

    REQUIRE(world.slurm.count("submit") == 501);
    JobId id = 1;
    while (world.slurm.job(id).asked.tag.gang != "other/late")
        id++;
    CHECK(id <= 2);
}

TEST_CASE("many Pods that were refused are not all asked for again at once")
{
    World world;
    world.start_agent();
    world.slurm.fail_always("submit", Code::rejected);
    for (int i = 0; i < 60; i++)
        world.create("p" + std::to_string(i));
    CHECK(world.slurm.count("submit") == 60);

    world.deliver(Reload{std::make_shared<const Conf>(world.conf)});
    world.settle();
    CHECK(world.slurm.count("submit") == 60 + Refusals::at_once);
    world.pass(std::chrono::seconds(9)); // 40 of them, 5 in a second
    CHECK(world.slurm.count("submit") >= 120);

    // One that is never refused again is asked for as ever.
    world.slurm.heal("submit");
    world.create("new");
    CHECK(world.slurm.count("submit") >= 121);
}

TEST_CASE(
    "when one of them is taken, those that were refused in the same words "
    "are asked for again")
{
    World world;
    world.start_agent();
    world.slurm.fail_always("submit", Code::rejected);
    for (const char *name : {"early-1", "early-2"})
        world.create(name);
    world.pass(std::chrono::seconds(100)); // the next try is a minute away
    world.create("late");
    world.slurm.heal("submit");
    CHECK(world.slurm.living().empty());

    world.pass(std::chrono::seconds(7));

    CHECK(world.slurm.living().size() == 3);
}
