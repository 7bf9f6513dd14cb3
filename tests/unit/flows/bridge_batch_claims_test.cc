// SPDX-License-Identifier: GPL-2.0-or-later
// Batch jobs of several nodes with GRES: what becomes of the claims of their
// Pods when slurmctld, after a crash, has placed the job elsewhere, or not at
// all.
#include "tests/unit/flows/batch_claim_world.h"

#include "agent/gang/batch_place.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

using namespace bridge;
using std::chrono::seconds;

namespace {

using Nodes = std::vector<std::string>;

struct ClaimNodesWorld : BatchClaimWorld {
    ClaimNodesWorld() : BatchClaimWorld(4) {}

    // On kn1 and kn2, with a GPU on each.
    JobRef submit()
    {
        JobDescription job = describe("gres/gpu:g:1");
        job.min_nodes = job.max_nodes = job.tasks = 2;
        JobRef made = slurm.plant(job);
        slurm.schedule();
        return made;
    }
    // Its Pods have their devices, and none is bound.
    JobRef submit_reserved()
    {
        kube.fail_next("bind", Code::busy);
        JobRef job = submit();
        settle();
        REQUIRE(allocated() == 2);
        REQUIRE(count_bound() == 0);
        return job;
    }
    // slurmctld crashes, and has the job on these nodes when it is back.
    void crash_to(JobRef job, const Nodes &there)
    {
        cut_socket();
        slurm.unallocate(job.id);
        slurm.reallocate(job.id, there);
        connect_socket();
    }
    std::ptrdiff_t allocated() const
    {
        return std::ranges::count_if(kube.claims(), &ResourceClaim::allocated);
    }
    std::ptrdiff_t count_bound() const
    {
        return std::ranges::count_if(
            kube.pods(), [](const Pod &pod) { return pod.bound(); });
    }
    // Each Pod is on its node, and has its GPU there.
    void check_runs_on(JobRef job, const Nodes &there) const
    {
        CHECK(slurm.job(job.id).job.state == JobState::running);
        CHECK(slurm.job(job.id).comment.empty());
        REQUIRE(kube.pods().size() == there.size());
        for (const Pod &pod : kube.pods()) {
            auto place = batch_place(pod);
            REQUIRE(place);
            CHECK(pod.node_name == there.at(place->rank));
            ResourceClaim its = claim(pod.extended_claim);
            CHECK(bridge::devices_of(its) == pod.node_name + "/gpu-0");
            CHECK(its.is_reserved_for(pod.uid));
        }
    }
};

} // namespace

TEST_CASE("nothing is reserved on the nodes that a batch job had before")
{
    for (int steps = 0; steps < 60; steps++) {
        CAPTURE(steps);
        ClaimNodesWorld world;
        JobRef job = world.submit();
        world.step(steps);
        if (world.kube.count("create_claim") != 0)
            break;
        world.calls_hang = true; // until the agent has heard of it
        world.settle();
        world.crash_to(job, {"kn3", "kn4"});
        world.settle();
        world.calls_hang = false;
        world.pass(seconds(60));

        world.check_runs_on(job, {"kn3", "kn4"});
        CHECK(world.kube.count("create_claim") == 2);
        CHECK(world.kube.claims().size() == 2);
    }
}

TEST_CASE("devices of a batch job that is lost are given back at once")
{
    ClaimNodesWorld world;
    JobRef job = world.submit_reserved();

    world.cut_socket();
    world.slurm.purge(job.id);
    world.connect_socket();
    world.pass(seconds(5)); // no OrphanGrace: the Pods wait still

    for (const Pod &pod : world.kube.pods())
        CHECK_FALSE(pod.terminal());
    CHECK(world.kube.claims().empty());
}

TEST_CASE("devices of a batch job that waits again are given back meanwhile")
{
    ClaimNodesWorld world;
    JobRef job = world.submit_reserved();

    world.cut_socket();
    world.slurm.unallocate(job.id);
    world.slurm.hold(job.id);
    world.connect_socket();
    world.pass(seconds(5));

    CHECK(world.kube.claims().empty());
    CHECK(world.slurm.job(job.id).job.state == JobState::pending);
    world.slurm.reallocate(job.id, Nodes{"kn1", "kn2"});
    world.pass(seconds(60));
    world.check_runs_on(job, {"kn1", "kn2"});
}

TEST_CASE("of Pods that are made for other nodes no claim is left")
{
    ClaimNodesWorld world;
    JobRef job = world.submit_reserved();

    world.crash_to(job, {"kn1", "kn3"}); // that of the script stays
    world.pass(seconds(60));

    world.check_runs_on(job, {"kn1", "kn3"});
    CHECK(world.kube.claims().size() == 2);
}
