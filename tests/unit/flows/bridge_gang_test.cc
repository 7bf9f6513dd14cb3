// SPDX-License-Identifier: GPL-2.0-or-later
// The life of a gang: Pods that get one job, all or none of them.
#include "tests/unit/flows/gang_world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

constexpr int node_count = 4; // of 16 CPUs

class Train : public GangWorld<> {
  public:
    Train()
    {
        World::nodes.clear();
        for (int i = 1; i <= node_count; i++)
            World::nodes.push_back(make_node("kn" + std::to_string(i)));
        start_agent();
    }

    // Pods t-0 … of the gang, each with so many CPUs.
    void create_pods(int from, int to, int size, int cpus = 4,
                     const std::string &least = {})
    {
        for (int i = from; i < to; i++)
            create(member(i, size, cpus, least));
    }
    static Pod member(int i, int size, int cpus = 4,
                      const std::string &least = {})
    {
        return make_member(name(i), std::to_string(size), MilliCpu{cpus * 1000},
                           least);
    }
};

} // namespace

TEST_CASE("a gang waits until it is complete, and says so")
{
    Train world;
    world.create_pods(0, 7, 8);

    CHECK(world.slurm.jobs().empty());
    CHECK(world.said_on("t-0") == ""); // more may be about to come
    world.pass(seconds(1));
    CHECK(world.said_on("t-0") == "7 of 8 Pods of gang train exist.");
    CHECK(world.said_on("t-6") == "7 of 8 Pods of gang train exist.");

    world.create_pods(7, 8, 8);
    CHECK(world.bound(8) == 8);
    CHECK(world.only_job().asked.tasks == 8);
    CHECK(world.only_job().asked.max_nodes == 8);
    CHECK(world.only_job().asked.cpus_per_task == 4);
}

TEST_CASE("a gang's condition that could not be written is written later")
{
    Train world;
    for (int i = 1; i <= node_count; i++)
        world.create(make_pod("full-" + std::to_string(i), MilliCpu{16000}));
    world.kube.fail_always("set_unscheduled", Code::busy);
    world.create_pods(0, 2, 2);
    world.pass(seconds(5));
    CHECK(world.said_on("t-0") == "");

    world.kube.heal("set_unscheduled");
    world.pass(seconds(120));

    CHECK(world.said_on("t-0").ends_with("is waiting: Resources."));
    CHECK(world.said_on("t-1").ends_with("is waiting: Resources."));
}

TEST_CASE("a gang is one job, on nodes in the order of its ranks")
{
    Train world;
    world.create_pods(0, 12, 12);

    const Job &job = world.only_job().job;
    CHECK(job.state == JobState::running);
    CHECK(job.nodes == std::vector<std::string>{"kn1", "kn2", "kn3"});
    CHECK(world.node_of("t-0") == "kn1");
    CHECK(world.node_of("t-3") == "kn1");
    CHECK(world.node_of("t-4") == "kn2");
    CHECK(world.node_of("t-10") == "kn3"); // behind t-9
    CHECK(world.annotation(10, names::rank_annotation) == "10");
    CHECK(world.annotation(10, names::nodes_annotation) == "kn1,kn2,kn3");
    CHECK(world.annotation(10, names::node_annotation) == "kn3");
    CHECK(world.slurm.starts == 1);
    CHECK(world.kube.count("bind") == 12);

    world.run_all(12);
    world.end_all(12);
    CHECK(world.only_job().job.state == JobState::completed);
    CHECK_FALSE(world.only_job().epilog_held);
    CHECK(world.allocation_count() == 0);
}

TEST_CASE("a gang that fits on one node shares it")
{
    Train world;
    world.create_pods(0, 4, 4, 3);

    CHECK(world.only_job().job.nodes.size() == 1);
    CHECK(world.node_of("t-0") == world.node_of("t-3"));
}

TEST_CASE("min-nodes spreads a gang")
{
    Train world;
    for (int i = 0; i < 3; i++) {
        Pod pod = Train::member(i, 3);
        pod.annotations["slurmk8s/min-nodes"] = "3";
        world.create(pod);
    }

    CHECK(world.node_of("t-0") == "kn1");
    CHECK(world.node_of("t-1") == "kn2");
    CHECK(world.node_of("t-2") == "kn3");
}

TEST_CASE("Pods of unequal size have tasks of the largest, and are told")
{
    Train world;
    world.create(Train::member(0, 2, 8));
    world.create(Train::member(1, 2, 1));

    CHECK(world.only_job().asked.cpus_per_task == 8);
    CHECK(world.bound(2) == 2);
    std::string said;
    for (const auto &[key, event] : world.kube.events())
        if (key.name == "t-1" && event.reason == "Scheduled")
            said = event.note;
    CHECK(said.contains("asks for 1 CPUs"));
    CHECK(said.contains("has 8"));
}

TEST_CASE("a gang of more Pods than MaxGangSize is refused")
{
    Train world;
    world.conf.max_gang_size = 2;
    world.start_agent();
    world.create_pods(0, 3, 3);

    CHECK(world.slurm.jobs().empty());
    CHECK(world.said_on("t-0").contains("MaxGangSize"));
}

TEST_CASE("Pods that say different sizes are refused, until they agree")
{
    Train world;
    world.create(Train::member(0, 2));
    world.create(Train::member(1, 3));
    CHECK(world.slurm.jobs().empty());
    CHECK(world.said_on("t-0").contains("different sizes"));

    world.delete_as_user("t-1");
    world.create(Train::member(1, 2));
    world.pass(seconds(1));
    CHECK(world.bound(2) == 2);
}

TEST_CASE("a Pod that leaves a waiting gang takes its job with it")
{
    Train world;
    world.slurm.sbatch(64); // no room
    for (int i = 1; i <= node_count; i++)
        world.slurm.set_drained("kn" + std::to_string(i), "test");
    world.create_pods(0, 4, 4);
    REQUIRE(world.slurm.living().size() == 2);

    world.delete_as_user("t-2");
    world.pass(seconds(2));
    CHECK(world.slurm.job(2).job.state == JobState::cancelled);
    CHECK(world.said_on("t-0") == "3 of 4 Pods of gang train exist.");

    world.create(Train::member(2, 4));
    world.pass(seconds(5));
    for (int i = 1; i <= node_count; i++)
        world.slurm.resume_by_hand("kn" + std::to_string(i));
    world.pass(seconds(2));
    CHECK(world.bound(4) == 4);
    CHECK(world.kube.count("fail_pod") == 0);
    CHECK(world.slurm.job(3).asked.tag.generation == 1);
}

TEST_CASE("killed after k of n bindings, the agent binds the rest")
{
    for (int bindings : {1, 5, 11}) {
        CAPTURE(bindings);
        Train world;
        world.create_pods(0, 11, 12);
        world.kube.put(Train::member(11, 12));
        for (int steps = 0; world.bound(12) < bindings && steps < 5000; steps++)
            world.step(1);
        world.start_agent();
        world.pass(seconds(3));

        CHECK(world.bound(12) == 12);
        CHECK(world.only_job().job.state == JobState::running);
        CHECK(world.node_of("t-10") == "kn3");
    }
}

TEST_CASE("killed at any step, the agent goes on, and nothing is done twice")
{
    for (int steps = 1; steps < 60; steps++) {
        CAPTURE(steps);
        Train world;
        for (int i = 0; i < 6; i++)
            world.kube.put(Train::member(i, 6));
        world.step(steps);
        world.start_agent();
        world.pass(seconds(10));

        REQUIRE(world.slurm.living().size() == 1);
        CHECK(world.bound(6) == 6);
        CHECK(world.slurm.living()[0].job.state == JobState::running);
        CHECK(world.kube.count("fail_pod") == 0);
        CHECK(world.kube.count("delete_pod") == 0);
    }
}

TEST_CASE("a binding that fails is tried again, the others stay")
{
    Train world;
    world.kube.fail_next("bind", Code::busy);
    world.kube.lose_reply("bind");
    world.create_pods(0, 6, 6);
    world.pass(seconds(5));

    CHECK(world.bound(6) == 6);
    CHECK(world.only_job().job.state == JobState::running);
}

TEST_CASE("a gang of which a Pod cannot be bound is released after BindTimeout")
{
    Train world;
    world.create_pods(0, 2, 3);
    world.kube.put(Train::member(2, 3));
    Code code = Code::rejected;
    SUBCASE("since that is refused") {}
    SUBCASE("since no answer comes")
    {
        code = Code::uncertain;
    }
    for (int i = 0; i < 2000; i++)
        world.kube.fail_next("bind", code);
    world.settle();
    CHECK(world.slurm.starts == 0);
    world.pass(world.conf.bind_timeout + seconds(10));

    CHECK(world.slurm.job(1).job.state == JobState::cancelled);
    CHECK(world.kube.count("fail_pod") == 0);
    CHECK(world.kube.count("delete_pod") == 0);
}

TEST_CASE("the exit code of the first that failed, by rank, is the job's")
{
    Train world;
    world.create_pods(0, 3, 3);
    world.run_all(3);

    world.end_containers("t-2", 9);
    CHECK(world.only_job().job.state == JobState::running);
    world.end_containers("t-0", 0);
    world.end_containers("t-1", 7);
    CHECK(world.only_job().job.state == JobState::failed);
    CHECK(world.only_job().status == 7 << 8);
    CHECK(world.only_job().completions == 1);
}

TEST_CASE(
    "a controller that deletes the rest after a failure hides no exit code")
{
    Train world;
    world.create_pods(0, 3, 3);
    world.run_all(3);

    world.end_containers("t-1", 7);
    world.kube.erase({"default", "t-1"});
    world.delete_as_user("t-0");
    world.delete_as_user("t-2");
    CHECK(world.only_job().job.state == JobState::running);
    world.finish_deletion("t-0");
    world.finish_deletion("t-2");

    CHECK(world.only_job().status == 7 << 8);
}

TEST_CASE("a gang's job that a crash of slurmctld brought back is ended again")
{
    Train world;
    world.create_pods(0, 3, 3);
    world.run_all(3);
    world.end_containers("t-1", 7);
    world.end_containers("t-0", 0);
    world.end_containers("t-2", 0);
    REQUIRE(world.only_job().job.state == JobState::failed);

    world.slurm.resurrect(1);
    world.pass(world.conf.resync_interval + seconds(30));

    CHECK(world.only_job().job.state == JobState::failed);
    CHECK(world.only_job().status == 7 << 8);
    CHECK(world.only_job().completions == 2);
}

TEST_CASE("scancel ends all Pods of a gang, and the nodes are free then")
{
    Train world;
    world.create_pods(0, 6, 6);
    world.run_all(6);

    world.slurm.scancel(1);
    world.settle();
    CHECK(world.kube.count("expire_pod") == 6);
    CHECK(world.only_job().epilog_held);
    world.end_all(5, 143);
    CHECK(world.only_job().epilog_held);
    world.end_containers("t-5", 143);
    CHECK_FALSE(world.only_job().epilog_held);
}

TEST_CASE("scancel of a waiting gang fails all its Pods, for good")
{
    Train world;
    for (int i = 1; i <= node_count; i++)
        world.slurm.set_drained("kn" + std::to_string(i), "test");
    world.create_pods(0, 3, 3);
    world.slurm.scancel(1);
    world.pass(seconds(5));

    for (int i = 0; i < 3; i++)
        CHECK(world.pod(Train::name(i))->phase == "Failed");
    CHECK(world.slurm.jobs().size() == 1);

    // Their controller makes others: those are another gang's.
    for (int i = 3; i < 6; i++)
        world.create(Train::member(i, 3));
    world.pass(seconds(5));
    CHECK(world.slurm.living().size() == 1);
    CHECK(world.kube.count("fail_pod") == 3);
}

TEST_CASE("a Pod made again while the gang runs joins it")
{
    Train world;
    auto owned = [](Pod pod) {
        pod.owner = {"batch/v1", "Job", "steps", "uid-steps"};
        return pod;
    };
    for (int i = 0; i < 6; i++)
        world.create(owned(Train::member(i, 6)));
    world.run_all(6);
    std::string where = world.node_of("t-1");
    world.end_containers("t-1", 1);

    world.create(owned(Train::member(7, 6)));
    CHECK(world.node_of("t-7") == where);
    CHECK(world.annotation(7, names::rank_annotation) == "1");
    CHECK(world.slurm.jobs().size() == 1);
    CHECK(world.slurm.starts == 1);
}

TEST_CASE("a gang whose last Pod failed waits RejoinGrace for another")
{
    Train world;
    for (int i = 0; i < 2; i++) {
        Pod pod = Train::member(i, 2);
        pod.owner = {"batch/v1", "Job", "steps", "uid-steps"};
        world.create(pod);
    }
    world.run_all(2);
    world.end_containers("t-0", 0);
    world.end_containers("t-1", 5);
    CHECK(world.only_job().job.state == JobState::running);

    world.pass(world.conf.rejoin_grace + seconds(1));
    CHECK(world.only_job().status == 5 << 8);

    // It comes late: the gang is complete with it alone.
    Pod pod = Train::member(2, 2);
    pod.owner = {"batch/v1", "Job", "steps", "uid-steps"};
    world.create(pod);
    CHECK(world.slurm.jobs().size() == 1); // another may be about to come
    world.pass(seconds(4));
    CHECK(world.slurm.jobs().size() == 2);
    CHECK(world.slurm.job(2).asked.tasks == 1);
    CHECK(world.node_of("t-2") != "");
}

TEST_CASE("the next Pods of a Job with more completions are one job, too")
{
    Train world;
    auto create = [&](int i) {
        Pod pod = Train::member(i, 2);
        pod.owner = {"batch/v1", "Job", "steps", "uid-steps"};
        world.create(pod);
    };
    create(0);
    create(1);
    world.run_all(2);
    world.end_all(2);
    REQUIRE(world.only_job().job.state == JobState::completed);

    create(2);
    world.pass(seconds(2));
    create(3);

    REQUIRE(world.slurm.jobs().size() == 2);
    CHECK(world.slurm.job(2).asked.tasks == 2);
    CHECK(world.slurm.job(2).job.state == JobState::running);
    CHECK(world.node_of("t-2") != "");
    CHECK(world.node_of("t-3") != "");
}

TEST_CASE("with a minimum the gang starts early, with room for the rest")
{
    Train world;
    world.create_pods(0, 1, 4, 8, "1");
    CHECK(world.only_job().asked.tasks == 4);
    CHECK(world.only_job().job.state == JobState::running);
    CHECK(world.node_of("t-0") == "kn1");

    world.create_pods(1, 4, 4, 8, "1");
    CHECK(world.bound(4) == 4);
    CHECK(world.node_of("t-3") == "kn2");
    CHECK(world.slurm.jobs().size() == 1);
}

TEST_CASE("one Pod too many waits, and the gang is not touched")
{
    Train world;
    world.create_pods(0, 3, 3);
    world.run_all(3);
    world.create(Train::member(3, 3));
    world.pass(world.conf.bind_timeout + seconds(10));

    CHECK(world.only_job().job.state == JobState::running);
    CHECK(world.node_of("t-3") == "");
    CHECK(world.said_on("t-3").contains("no place"));
}

TEST_CASE("a gang whose job slurmctld has lost goes on, Pod by Pod")
{
    Train world;
    world.create_pods(0, 6, 6);
    world.run_all(6);
    world.slurm.purge(1);
    world.pass(world.conf.resync_interval + seconds(30));

    CHECK(world.slurm.living().size() == 6);
    for (const auto &record : world.slurm.living()) {
        CHECK(record.asked.tasks == 1);
        CHECK(record.job.state == JobState::running);
    }
    CHECK(world.kube.count("delete_pod") == 0);
    CHECK(world.kube.count("expire_pod") == 0);

    // And so it stays after a restart.
    world.start_agent();
    world.pass(seconds(30));
    CHECK(world.slurm.living().size() == 6);
    world.end_all(6);
    world.pass(seconds(5));
    CHECK(world.slurm.living().empty());
}

TEST_CASE("a job that slurmctld set back to the queue is given up for its Pods")
{
    Train world;
    world.create_pods(0, 6, 6);
    world.run_all(6);
    std::size_t living = 6;
    SUBCASE("of which all live") {}
    SUBCASE("of which one has ended")
    {
        world.end_containers("t-5", 3);
        living = 5;
    }
    world.slurm.unallocate(1);
    world.start_agent();
    world.pass(seconds(30));

    CHECK(world.slurm.living().size() == living);
    CHECK(is_ended(world.slurm.job(1).job.state));
    CHECK(world.kube.count("delete_pod") == 0);
    CHECK(world.kube.count("expire_pod") == 0);
}

TEST_CASE("a gang that slurmctld has allocated elsewhere goes on where it is")
{
    Train world;
    world.create_pods(0, 2, 2, 16);
    world.run_all(2);
    REQUIRE(world.only_job().job.nodes ==
            std::vector<std::string>{"kn1", "kn2"});

    world.slurm.reallocate(1, std::vector<std::string>{"kn2", "kn3"});
    world.pass(seconds(60));

    CHECK(is_ended(world.slurm.job(1).job.state));
    CHECK(world.slurm.living().size() == 2);
    CHECK(world.kube.count("delete_pod") == 0);
    CHECK(world.kube.count("expire_pod") == 0);
}

TEST_CASE("a gang that is in no list is not cancelled while a Pod is there")
{
    Train world;
    world.create_pods(0, 2, 2);
    world.run_all(2);
    std::vector<Pod> listed;
    SUBCASE("of which nothing is listed") {}
    SUBCASE("of which those are listed that have ended")
    {
        world.end_containers("t-0", 0);
        listed = {*world.pod("t-0")};
    }
    world.start_agent_unlisted();
    world.deliver(Listed<Pod>{"slurm", listed});
    world.send_lists();
    world.settle();
    world.pass(seconds(5));

    CHECK(world.only_job().job.state == JobState::running);
}

TEST_CASE("the gang's name can be used again")
{
    Train world;
    for (int round = 0; round < 3; round++) {
        world.create_pods(0, 3, 3);
        CHECK(world.bound(3) == 3);
        world.run_all(3);
        world.end_all(3);
        for (int i = 0; i < 3; i++)
            world.delete_as_user(Train::name(i)),
                world.finish_deletion(Train::name(i));
        world.pass(seconds(1));
    }
    CHECK(world.slurm.jobs().size() == 3);
    CHECK(world.kube.count("fail_pod") == 0);
}

TEST_CASE("a Pod without the label is alone beside a gang")
{
    Train world;
    world.create_pods(0, 1, 2);
    world.create("web");

    CHECK(world.node_of("web") != "");
    CHECK(world.node_of("t-0") == "");
}

TEST_CASE(
    "the leader of a LeaderWorkerSet gets a job for all when it stays alone")
{
    auto worker = [](int i) {
        Pod pod = make_pod("serve-0-" + std::to_string(i), MilliCpu{8000});
        pod.gang =
            gang_key(pod.key, {},
                     {{names::lws_group_key_label, "0f"},
                      {names::lws_name_label, "serve"},
                      {names::lws_group_index_label, "0"},
                      {names::lws_worker_index_label, std::to_string(i)}},
                     {{names::lws_size_annotation, "3"}});
        return pod;
    };
    Train world;
    world.create(worker(0));
    world.pass(seconds(1));
    CHECK(world.slurm.jobs().empty());
    CHECK(world.said_on("serve-0-0") == "1 of 3 Pods of gang serve-0 exist.");

    world.pass(seconds(6));
    CHECK(world.only_job().asked.tasks == 3);
    CHECK(world.only_job().job.state == JobState::running);

    world.create(worker(1));
    world.create(worker(2));
    CHECK(world.node_of("serve-0-1") == "kn1");
    CHECK(world.node_of("serve-0-2") == "kn2");
    CHECK(world.slurm.jobs().size() == 1);
}

TEST_CASE("words that overtook newer ones are put right")
{
    Train world;
    world.create_pods(0, 3, 4);
    world.pass(seconds(1));
    REQUIRE(world.said_on("t-1") == "3 of 4 Pods of gang train exist.");

    world.kube.change({"default", "t-1"}, [](Pod &pod) {
        pod.scheduled.message = "2 of 4 Pods of gang train exist.";
    });
    world.settle();
    CHECK(world.said_on("t-1") == "3 of 4 Pods of gang train exist.");
}

TEST_CASE(
    "a gang with a Pod that no node could hold gets no job and says which")
{
    Train world;
    world.create(Train::member(0, 2, 16));
    world.create(Train::member(1, 2, 17));
    world.pass(seconds(10));

    CHECK(world.slurm.count("submit") == 0);
    CHECK(world.slurm.count("submit_het") == 0);
    CHECK(world.said_on("t-0").contains("large enough for Pod t-1: it asks for "
                                        "cpu=17"));
}
