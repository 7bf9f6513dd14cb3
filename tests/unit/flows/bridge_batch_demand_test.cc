// SPDX-License-Identifier: GPL-2.0-or-later
// Batch jobs that wait for Nodes ask autoscalers for them, as long as they
// wait.
#include "tests/unit/flows/script_world.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

struct DemandWorld : ScriptWorld {
    DemandWorld()
    {
        NodePool pool;
        pool.name = "pool";
        pool.nodes = 4;
        pool.cpus = 8;
        pool.memory = MebiBytes{32000};
        pool.labels = {{karpenter_pool_label, "pool"}};
        conf.node_pools.push_back(pool);
    }

    JobRef wait_for(const std::string &reason)
    {
        put_script();
        JobRef job = slurm.plant(job_of_script());
        slurm.hold(job.id); // the nodes of the World are not for it
        slurm.set_reason(job.id, reason);
        return job;
    }
    std::size_t asking() const
    {
        auto pods = kube.pods();
        return static_cast<std::size_t>(
            std::ranges::count_if(pods, [](const Pod &pod) {
                return pod.scheduler_name == "slurmk8s-waits";
            }));
    }
};

} // namespace

TEST_CASE("a batch job asks for a Node until it has one, without another list")
{
    DemandWorld world;
    world.start_agent();
    JobRef job = world.wait_for("Resources");
    world.pass(world.conf.reason_interval + seconds(2));
    CHECK(world.asking() == 1);

    std::size_t lists = world.slurm.count("load_all");
    world.slurm.release(job.id);
    world.scheduled(job);
    CHECK(world.asking() == 0);
    CHECK(world.slurm.count("load_all") == lists);
    CHECK(world.kube.pods().size() == 1); // its own
}

TEST_CASE("a job that is held asks for none; one that is released does")
{
    DemandWorld world;
    world.start_agent();
    JobRef job = world.wait_for("JobHeldUser");
    world.pass(world.conf.reason_interval * 3);
    CHECK(world.asking() == 0);

    world.slurm.set_reason(job.id, "Resources");
    world.pass(world.conf.reason_interval + seconds(2));
    CHECK(world.asking() == 1);
    world.slurm.scancel(job.id);
    world.pass(world.conf.reason_interval + seconds(2));
    CHECK(world.asking() == 0);
}

TEST_CASE("what an earlier agent asked for is found, and taken back without a "
          "pool")
{
    DemandWorld world;
    world.start_agent();
    world.wait_for("Resources");
    world.pass(world.conf.reason_interval + seconds(2));
    REQUIRE(world.asking() == 1);
    std::size_t made = world.kube.count("create_pod");

    world.start_agent();
    world.pass(seconds(5));
    CHECK(world.asking() == 1);
    CHECK(world.kube.count("create_pod") == made);

    world.conf.node_pools.clear();
    world.start_agent();
    world.pass(seconds(5));
    CHECK(world.asking() == 0);
}

TEST_CASE("after an error the next list tries again")
{
    DemandWorld world;
    world.start_agent();
    world.kube.fail_next("create_pod", Code::busy);
    world.wait_for("Resources");
    world.pass(world.conf.reason_interval + seconds(2));
    CHECK(world.asking() == 0);
    world.pass(world.conf.reason_interval + seconds(2));
    CHECK(world.asking() == 1);
}

TEST_CASE(
    "a list that was made before the job had nodes does not bring its Pods "
    "back")
{
    DemandWorld world;
    world.start_agent();
    JobRef job = world.wait_for("Resources");
    world.pass(world.conf.reason_interval + seconds(2));
    REQUIRE(world.asking() == 1);
    auto before = world.slurm.load_all();

    world.slurm.release(job.id);
    world.scheduled(job);
    world.deliver(JobsLoaded{std::move(before)});
    CHECK(world.asking() == 0);
}

TEST_CASE("a Pod that somebody deletes comes back with the next list")
{
    DemandWorld world;
    world.start_agent();
    world.wait_for("Resources");
    world.pass(world.conf.reason_interval + seconds(2));
    REQUIRE(world.asking() == 1);
    world.kube.erase({"default", world.kube.pods().front().key.name});
    CHECK(world.asking() == 0);
    world.pass(world.conf.reason_interval + seconds(2));
    CHECK(world.asking() == 1);
}

TEST_CASE("another namespace for batch jobs, or none, leaves no Pods behind")
{
    DemandWorld world;
    world.start_agent();
    world.wait_for("Resources");
    world.pass(world.conf.reason_interval + seconds(2));
    REQUIRE(world.asking() == 1);
    Conf changed = world.conf;
    changed.batch_namespace.clear();
    world.deliver(Reload{std::make_shared<const Conf>(changed)});
    world.pass(seconds(5));
    CHECK(world.asking() == 0);
}
