// SPDX-License-Identifier: GPL-2.0-or-later
// Heterogeneous jobs of sbatch: a Pod on each node of each component, the
// script in the first. The whole life, and what is left when it is cut off at
// any point.
#include "common/contract/batch_het.h"
#include "tests/unit/flows/batch_nodes_world.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

// A component of one node, and one of two.
struct HetBatchWorld : NodesWorld {
    HetBatchWorld()
    {
        nodes.push_back(make_node("kn4"));
        start_agent();
    }

    JobDescription component(std::uint32_t nodes_asked,
                             std::uint16_t cpus) const
    {
        JobDescription job = job_of_script();
        job.min_nodes = job.max_nodes = job.tasks = nodes_asked;
        job.cpus_per_task = cpus;
        job.memory_per_node = MebiBytes{100u * nodes_asked};
        job.tag.components = some_components;
        return job;
    }
    // The leader; the other has the next id.
    JobRef submit_components()
    {
        put_script();
        return slurm.submit_het({component(1, 4), component(2, 2)}).value();
    }
    void start()
    {
        slurm.backfill();
        settle();
    }
    JobRef run_all()
    {
        JobRef leader = submit_components();
        start();
        for (const Pod &one : kube.pods())
            run_containers(one.key.name);
        return leader;
    }
    const Job &job_of(JobRef leader, JobId offset = 0) const
    {
        return slurm.job(leader.id + offset).job;
    }
    void check_runs_het(JobRef leader) const
    {
        const Job &first = job_of(leader), &second = job_of(leader, 1);
        CHECK(first.state == JobState::running);
        CHECK(second.state == JobState::running);
        CHECK(slurm.jobs().size() == 2);
        REQUIRE(kube.pods().size() == 3);
        for (std::uint32_t rank = 0; rank < 3; rank++) {
            CAPTURE(rank);
            const Job &job = rank == 0 ? first : second;
            Pod pod = pod_of(rank);
            CHECK(pod.node_name == job.nodes[rank == 0 ? 0 : rank - 1]);
            CHECK(binder_of(pod) == job.ref);
            CHECK(batch_place(pod)->first == (rank ? pod_of(0).uid : ""));
            CHECK(whole_cpus_up(pod.requests.cpu) == (rank == 0 ? 4 : 2));
            CHECK(mebibytes_up(pod.requests.memory).value ==
                  (rank == 0 ? 100 : 200));
        }
        CHECK(first.tag.first == pod_of(0).uid);
        CHECK(first.tag.components == 2);
        CHECK(second.tag == first.tag);
        CHECK(secret().contains(pod_of(0).uid));
        CHECK(has_script());
    }
    void check_over_het(JobRef leader, JobState state)
    {
        check_workers_go();
        for (JobId offset : {0u, 1u}) {
            CAPTURE(offset);
            CHECK(job_of(leader, offset).state == state);
            CHECK_FALSE(slurm.job(leader.id + offset).epilog_held);
        }
        CHECK(slurm.jobs().size() == 2);
        CHECK(secret().empty());
        CHECK_FALSE(has_script());
        CHECK(kube.pods().size() == 1); // for its logs
    }
};

} // namespace

TEST_CASE(
    "a heterogeneous batch job gets its Pods when all components have nodes")
{
    HetBatchWorld world;
    JobRef leader = world.submit_components();
    world.settle();
    CHECK(world.kube.pods().empty());

    world.start();

    world.check_runs_het(leader);
    CHECK(world.kube.count("create_pod") == 3);
    CHECK(world.kube.count("bind") == 3);
}

TEST_CASE("the end of the script is the end of all components")
{
    for (auto [code, state] :
         {std::pair{0, JobState::completed}, {7, JobState::failed}}) {
        HetBatchWorld world;
        JobRef leader = world.run_all();

        world.end_containers(world.name_of(0), code);

        CHECK(world.record(leader).status == code << 8);
        world.check_over_het(leader, state);
    }
}

TEST_CASE("a worker of another component that ends fails all components")
{
    HetBatchWorld world;
    JobRef leader = world.run_all();

    world.end_containers(world.name_of(2), 0);

    CHECK(world.job_of(leader).state == JobState::failed);
    CHECK(world.job_of(leader, 1).state == JobState::failed);
    CHECK(world.pod_of(0).active_deadline == 1);
    CHECK(world.pod_of(1).deleting);
}

TEST_CASE("scancel of any component ends all of them")
{
    for (JobId offset : {0u, 1u}) {
        CAPTURE(offset);
        HetBatchWorld world;
        JobRef leader = world.run_all();

        world.slurm.scancel(leader.id + offset);
        world.settle();
        world.pass(seconds(5));
        CHECK(world.pod_of(0).active_deadline == 1);
        world.end_containers(world.name_of(0), 143);

        world.check_over_het(leader, JobState::cancelled);
    }
}

TEST_CASE(
    "a heterogeneous batch job that is cancelled while it waits leaves nothing")
{
    HetBatchWorld world;
    JobRef leader = world.submit_components();
    world.settle();

    world.slurm.scancel(leader.id);
    world.start_agent();
    world.pass(seconds(2));

    CHECK(world.kube.pods().empty());
    CHECK_FALSE(world.has_script());
}

TEST_CASE(
    "an agent that is killed at any point makes each Pod of a component once")
{
    for (int steps = 0; steps < 80; steps++) {
        CAPTURE(steps);
        HetBatchWorld world;
        JobRef leader = world.submit_components();
        world.slurm.backfill();
        world.step(steps);

        world.start_agent();
        world.pass(seconds(10));

        world.check_runs_het(leader);
    }
}

TEST_CASE("an agent that is killed while all components end leaves nothing")
{
    for (int steps = 0; steps < 40; steps++) {
        CAPTURE(steps);
        HetBatchWorld world;
        JobRef leader = world.run_all();
        world.kube.change({"default", world.name_of(0)},
                          [](Pod &pod) { pod.phase = "Succeeded"; });
        world.step(steps);

        world.start_agent();
        world.pass(seconds(10));

        world.check_over_het(leader, JobState::completed);
    }
}

TEST_CASE(
    "Pods of components whose jobs are lost go on, and end with the script's")
{
    HetBatchWorld world;
    JobRef leader = world.run_all();
    world.cut_socket();
    world.slurm.purge(leader.id + 1);
    world.slurm.purge(leader.id);
    world.connect_socket();
    world.pass(seconds(20));

    CHECK(world.slurm.living().size() == 3); // one for each
    for (std::uint32_t rank : {0u, 1u, 2u})
        CHECK(world.pod_of(rank).living());
    world.end_containers(world.name_of(0), 0);
    world.pass(seconds(10));

    CHECK(world.slurm.living().empty());
}

TEST_CASE(
    "what slurmctld keeps of a heterogeneous batch job it refused is ended")
{
    for (bool again : {false, true}) {
        CAPTURE(again);
        HetBatchWorld world;
        JobRef leader = world.submit_components();
        world.settle();
        world.slurm.purge(leader.id);
        world.slurm.purge(leader.id + 1);
        JobRef rest = world.slurm.plant(world.component(1, 4));
        world.slurm.schedule();
        if (again)
            world.start_agent();
        world.settle();
        world.pass(seconds(30));

        CHECK(world.slurm.job(rest.id).job.state == JobState::cancelled);
        CHECK(world.kube.pods().empty());
    }
}
