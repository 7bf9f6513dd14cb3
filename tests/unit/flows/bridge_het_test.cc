// SPDX-License-Identifier: GPL-2.0-or-later
// The life of a gang of unequal Pods whose job has a component for each size.
#include "tests/unit/flows/gang_world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

constexpr int pods = 6; // two large ones, four small ones

class Het : public GangWorld<> {
  public:
    Het()
    {
        World::nodes.clear();
        for (int i = 1; i <= 4; i++)
            World::nodes.push_back(make_node("kn" + std::to_string(i)));
        start_agent();
    }

    static Pod member(int i, int size = pods)
    {
        Pod pod = make_member(name(i), std::to_string(size),
                              MilliCpu{i < 2 ? 8000 : 1000});
        pod.annotations["slurmk8s/heterogeneous"] = "true";
        return pod;
    }
    void create_all()
    {
        for (int i = 0; i < pods; i++)
            create(member(i));
    }
    void start_all()
    {
        create_all();
        slurm.backfill();
        settle();
        run_all(pods);
    }
    void end_all(int code = 0) { GangWorld::end_all(pods, code); }
    int bound() const { return GangWorld::bound(pods); }
    JobState state(JobId id) const { return slurm.job(id).job.state; }
    void check_nobody_was_ended() const
    {
        CHECK(kube.count("fail_pod") == 0);
        CHECK(kube.count("expire_pod") == 0);
        CHECK(kube.count("delete_pod") == 0);
    }
};

} // namespace

TEST_CASE(
    "Pods of two sizes are bound when backfill has started both components")
{
    Het world;
    world.create_all();

    REQUIRE(world.slurm.jobs().size() == 2);
    CHECK(world.slurm.count("submit_het") == 1);
    CHECK(world.slurm.job(1).asked.tasks == 2);
    CHECK(world.slurm.job(1).asked.cpus_per_task == 8);
    CHECK(world.slurm.job(2).asked.tasks == 4);
    CHECK(world.slurm.job(2).asked.cpus_per_task == 1);
    CHECK(world.bound() == 0);
    CHECK(world.slurm.kicks == 0);

    world.slurm.backfill();
    world.settle();
    CHECK(world.bound() == pods);
    CHECK(world.state(1) == JobState::running);
    CHECK(world.state(2) == JobState::running);
    CHECK(world.node_of("t-0") == "kn1");
    CHECK(world.node_of("t-1") == "kn1");
    for (int i = 2; i < pods; i++)
        CHECK(world.node_of(Het::name(i)) == "kn2");
    CHECK(world.pod("t-1")->label(names::job_id_label) == "1");
    CHECK(world.pod("t-2")->label(names::job_id_label) == "2");
    CHECK(world.annotation(2, names::sluid_annotation) ==
          world.slurm.job(2).job.ref.sluid.str());
    for (int i = 0; i < pods; i++) {
        CHECK(world.annotation(i, names::rank_annotation) == std::to_string(i));
        CHECK(world.annotation(i, names::nodes_annotation) == "kn1,kn2");
    }
    for (const auto &[key, event] : world.kube.events())
        CHECK_FALSE(event.note.contains("as the largest Pod"));
}

TEST_CASE("both components end with the exit code of the first that failed")
{
    Het world;
    world.start_all();
    for (int i = 0; i < pods; i++)
        world.end_containers(Het::name(i), i == 3 ? 7 : i == 5 ? 9 : 0);

    for (JobId id : {1u, 2u}) {
        CHECK(world.state(id) == JobState::failed);
        CHECK(world.slurm.job(id).status == 7 << 8);
        CHECK(world.slurm.job(id).completions == 1);
        CHECK_FALSE(world.slurm.job(id).epilog_held);
    }
    CHECK(world.allocation_count() == 0);
}

TEST_CASE("scancel of a heterogeneous job that waits fails all its Pods")
{
    Het world;
    world.create_all();
    world.slurm.scancel(1);
    world.pass(seconds(5));

    for (int i = 0; i < pods; i++)
        CHECK(world.pod(Het::name(i))->phase == "Failed");
    CHECK(world.slurm.jobs().size() == 2);
}

TEST_CASE("a component that ends takes the others with it")
{
    Het world;
    world.start_all();
    JobId ended = 0;
    SUBCASE("the leader")
    {
        ended = 1;
    }
    SUBCASE("another")
    {
        ended = 2;
    }
    JobId other = 3 - ended;
    world.slurm.end_job(ended, JobState::timeout);
    world.settle();

    CHECK(world.state(ended) == JobState::timeout);
    if (ended == 1) // the leader's completion is one of all
        CHECK(world.slurm.job(ended).completions == 0);
    CHECK(world.state(other) == JobState::cancelled);
    CHECK(world.kube.count("expire_pod") == pods);
    CHECK(world.slurm.job(other).epilog_held);
    world.end_all(143);
    for (JobId id : {1u, 2u})
        CHECK_FALSE(world.slurm.job(id).epilog_held);
    CHECK(world.slurm.jobs().size() == 2);
}

TEST_CASE("scancel of one component before it starts fails the Pods of all")
{
    Het world;
    for (int i = 0; i < 100; i++)
        world.kube.fail_next("bind", Code::busy);
    world.create_all();
    world.slurm.backfill();
    world.settle();
    world.slurm.end_job(2, JobState::cancelled);
    world.pass(seconds(5));

    CHECK(is_ended(world.state(1)));
    for (int i = 0; i < pods; i++)
        CHECK(world.pod(Het::name(i))->phase == "Failed");
}

TEST_CASE("killed at any step, the agent goes on with a heterogeneous job")
{
    for (int steps = 1; steps < 80; steps++) {
        CAPTURE(steps);
        Het world;
        for (int i = 0; i < pods; i++)
            world.kube.put(Het::member(i));
        for (int i = 0; i < steps; i++) {
            world.step(1);
            world.slurm.backfill();
        }
        world.start_agent();
        world.pass(seconds(10));

        REQUIRE(world.slurm.living().size() == 2);
        CHECK(world.bound() == pods);
        for (const auto &record : world.slurm.living())
            CHECK(record.job.state == JobState::running);
        world.check_nobody_was_ended();
    }
}

TEST_CASE(
    "killed at any step of its end, the agent ends a heterogeneous job once")
{
    for (int steps = 1; steps < 40; steps++) {
        CAPTURE(steps);
        Het world;
        world.start_all();
        for (int i = 0; i + 1 < pods; i++)
            world.end_containers(Het::name(i), 0);
        Pod last = *world.pod("t-5");
        last.phase = "Failed";
        last.containers = {{"main", true, 3, 0, "Error"}};
        world.kube.put(last);
        world.step(steps);
        world.start_agent();
        world.pass(seconds(10));

        for (JobId id : {1u, 2u}) {
            CHECK(world.state(id) == JobState::failed);
            CHECK(world.slurm.job(id).status == 3 << 8);
            CHECK_FALSE(world.slurm.job(id).epilog_held);
        }
        CHECK(world.slurm.jobs().size() == 2);
    }
}

TEST_CASE("a heterogeneous submit without an answer is not made twice")
{
    Het world;
    world.slurm.lose_reply("submit_het");
    world.create_all();
    world.pass(seconds(10));

    CHECK(world.slurm.jobs().size() == 2);
    CHECK(world.bound() == pods);
}

TEST_CASE("what a refused heterogeneous job leaves behind is nobody's word")
{
    Het world;
    for (int i = 0; i < pods; i++) {
        Pod pod = Het::member(i);
        if (i >= 4) // each fits on a node, and the fake wants both on one
            pod.requests.memory = Bytes{std::int64_t{40000} << 20};
        world.create(pod);
    }
    world.pass(seconds(1));
    CHECK(world.said_on("t-0").contains("not available"));
    REQUIRE(world.state(1) == JobState::cancelled);

    world.start_agent();
    world.pass(seconds(10));
    world.check_nobody_was_ended();
    CHECK(world.said_on("t-0").contains("not available"));
}

TEST_CASE("a component that belongs to nothing is ended")
{
    Het world;
    JobDescription rest;
    rest.features = "k8s";
    rest.tag = {"default/train", "default/gang/train", 0, "uid-t-0"};
    rest.tag.components = 2;
    world.slurm.plant(rest);
    world.start_agent();
    world.create_all();
    world.pass(world.conf.resync_interval + seconds(5));

    CHECK(world.state(1) == JobState::cancelled);
    CHECK(world.bound() == pods);
    CHECK(world.slurm.living().size() == 2);
    world.check_nobody_was_ended();
}

TEST_CASE("a heterogeneous job that slurmctld has lost: its Pods go on alone")
{
    Het world;
    world.start_all();
    std::size_t cancelled = 0; // of the old components
    SUBCASE("all of it")
    {
        world.slurm.purge(1);
        world.slurm.purge(2);
    }
    SUBCASE("its allocation")
    {
        world.slurm.unallocate(1);
        world.slurm.unallocate(2);
        cancelled = 2;
    }
    SUBCASE("the nodes of a component")
    {
        world.slurm.end_job(2, JobState::node_fail);
        cancelled = 1;
    }
    world.start_agent();
    world.pass(world.conf.resync_interval + seconds(30));

    std::size_t alone = 0;
    for (const auto &[id, record] : world.slurm.jobs())
        alone += id > 2 && record.job.state == JobState::running;
    CHECK(alone == pods);
    CHECK(world.slurm.living().size() == pods);
    std::size_t ended = 0;
    for (const auto &[id, record] : world.slurm.jobs())
        ended += id <= 2 && record.job.state == JobState::cancelled;
    CHECK(ended == cancelled);
    world.check_nobody_was_ended();
}

TEST_CASE("components that backfill has to take back are asked for anew")
{
    Het world;
    world.create_all();
    world.slurm.backfill();
    world.slurm.take_back(1);
    SUBCASE("the one that it had started")
    {
        world.slurm.unallocate(2);
    }
    SUBCASE("all of them")
    {
        world.slurm.take_back(2);
    }
    SUBCASE("and the agent is killed meanwhile")
    {
        world.slurm.unallocate(2);
        world.step(5);
        world.start_agent();
    }
    world.settle();
    world.pass(seconds(10));

    for (JobId id : {1u, 2u}) {
        CHECK(world.state(id) == JobState::cancelled);
        CHECK_FALSE(world.slurm.job(id).epilog_held);
    }
    CHECK(world.slurm.living().size() == 2);
    CHECK(world.bound() == pods);
    world.check_nobody_was_ended();
}

TEST_CASE("what is left of a heterogeneous job that is no gang's is ended")
{
    Het world;
    world.start_all();
    auto second = world.slurm.submit_het(
        {world.slurm.job(1).asked, world.slurm.job(2).asked});
    REQUIRE(second);
    world.slurm.end_job(second->id, JobState::cancelled);
    world.start_agent();
    world.pass(seconds(5));

    CHECK(world.state(second->id + 1) == JobState::cancelled);
    CHECK(world.state(1) == JobState::running);
    CHECK(world.state(2) == JobState::running);
    world.check_nobody_was_ended();
}

TEST_CASE("a Pod that leaves while the components wait takes them with it")
{
    Het world;
    world.create_all();
    world.delete_as_user("t-4");
    world.pass(seconds(5));

    CHECK(world.state(1) == JobState::cancelled);
    CHECK(world.state(2) == JobState::cancelled);
    CHECK(world.bound() == 0);
    world.create(Het::member(6));
    world.pass(seconds(5));
    CHECK(world.slurm.living().size() == 2);
    CHECK(world.bound() == pods - 1);
    CHECK_FALSE(world.node_of("t-6").empty());
}

TEST_CASE("while a heterogeneous job waits its partition gets no kick")
{
    Het world;
    for (int i = 1; i <= 4; i++)
        world.slurm.set_drained("kn" + std::to_string(i), "test");
    world.create_all();
    world.create("web");
    CHECK(world.slurm.kicks == 0);

    Pod other = make_pod("elsewhere");
    other.annotations["slurmk8s/partition"] = "other";
    world.create(other);
    CHECK(world.slurm.kicks == 1);

    world.slurm.scancel(1);
    world.pass(seconds(5));
    world.create("web-2");
    CHECK(world.slurm.kicks > 1);
}

TEST_CASE("a Pod made again joins the component of its size")
{
    Het world;
    world.start_all();
    world.end_containers("t-3", 1);
    world.delete_as_user("t-3");
    world.finish_deletion("t-3");
    Pod again = Het::member(3);
    again.uid = "uid-again";
    world.create(again);
    world.pass(seconds(2));

    CHECK(world.node_of("t-3") == "kn2");
    CHECK(world.pod("t-3")->label(names::job_id_label) == "2");
}
