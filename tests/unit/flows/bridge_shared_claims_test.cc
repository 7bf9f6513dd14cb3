// SPDX-License-Identifier: GPL-2.0-or-later
// Pods of several jobs that use one ResourceClaim: the job that got the devices
// counts them until the last of these Pods is over.
#include "common/base/json_text.h"
#include "tests/unit/flows/claim_world.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

Pod with_claim(const std::string &name)
{
    Pod pod = make_pod(name);
    pod.resource_claims = {{"gpu", "c", "", false, false}};
    return pod;
}

// The Pods run with claim c. Job 1 has its GRES, the others have none.
struct Shared : ClaimWorld {
    explicit Shared(std::vector<std::string> pods = {"a", "b"})
    {
        add_claim("c", 2);
        for (const std::string &name : pods) {
            create(with_claim(name));
            pass(seconds(2));
            run_containers(name);
        }
        REQUIRE(slurm.count("submit") == pods.size());
        REQUIRE(slurm.job(1).asked.gres_per_task == "gres/gpu:g:2");
        REQUIRE(slurm.job(2).asked.gres_per_task.empty());
        REQUIRE(claim().reserved_for.size() == pods.size());
    }

    JobState state(JobId job) const { return slurm.job(job).job.state; }
    bool runs(JobId job) const { return state(job) == JobState::running; }

    // As kube-controller-manager: consumers that are over go, and after the
    // last one the devices.
    void collect()
    {
        std::string text = kube.claim({"default", "c"}), left;
        for (const ClaimConsumer &one : claim().reserved_for)
            if (auto there = pod(one.name); there && !there->terminal())
                left += std::string(left.empty() ? "" : ",") +
                        R"({"resource":"pods","name":")" + one.name +
                        R"(","uid":")" + one.uid + R"("})";
        std::string status = "{}";
        if (!left.empty())
            status = R"({"allocation":)" +
                     std::string(*json_text(text, "status/allocation")) +
                     R"(,"reservedFor":[)" + left + "]}";
        kube.put_claim(json_with(text, "status", status));
        settle();
    }
    void end(const std::string &name, int exit_code = 0)
    {
        end_containers(name, exit_code);
        collect();
        pass(seconds(3));
    }
};

} // namespace

TEST_CASE("the job that counts a claim ends with the last Pod that uses it")
{
    Shared world;
    SUBCASE("its own Pod is over first")
    {
        world.end("a", 3);
        CHECK(world.runs(1));
        CHECK(world.runs(2));
        world.end("b");
    }
    SUBCASE("its own Pod is over last")
    {
        world.end("b");
        CHECK(world.runs(1));
        CHECK(world.state(2) == JobState::completed);
        world.end("a", 3);
    }
    CHECK(world.state(1) == JobState::failed);
    CHECK(world.state(2) == JobState::completed);
    CHECK(world.devices_of().empty());
    CHECK(world.slurm.count("submit") == 2);
}

TEST_CASE("three Pods share a claim and end in any order")
{
    std::vector<std::string> order = {"a", "b", "d"};
    do {
        CAPTURE(order);
        Shared world({"a", "b", "d"});
        for (std::size_t i = 0; i < order.size(); i++) {
            CHECK(world.runs(1));
            world.end(order[i]);
        }
        for (JobId job : {1, 2, 3})
            CHECK(world.state(job) == JobState::completed);
    } while (std::ranges::next_permutation(order).found);
}

TEST_CASE("the agent is restarted while a job counts devices for others")
{
    Shared world;
    world.end_containers("a", 0);
    SUBCASE("its Pod is still there") {}
    SUBCASE("its Pod is gone")
    {
        world.finish_deletion("a");
    }
    world.collect();
    world.start_agent();
    world.pass(world.conf.orphan_grace + seconds(30));
    CHECK(world.runs(1));
    CHECK(world.runs(2));

    world.end("b");
    world.pass(seconds(5));
    CHECK(is_ended(world.state(1)));
    CHECK(world.state(2) == JobState::completed);
}

TEST_CASE("the agent is killed between any two writes: the job lives as long")
{
    for (int steps = 1; steps < 40; steps++) {
        CAPTURE(steps);
        Shared world;
        world.kube.change({"default", "a"},
                          [](Pod &pod) { pod.phase = "Succeeded"; });
        world.step(steps);
        world.start_agent();
        world.pass(seconds(5));
        CHECK(world.runs(1));
        world.end("b");
        CHECK(world.state(1) == JobState::completed);
    }
}

TEST_CASE("when Slurm ends the job that counts, all that share the claim end")
{
    Shared world;
    SUBCASE("its Pod is over")
    {
        world.end("a");
        world.slurm.end_job(1, JobState::timeout);
    }
    SUBCASE("its Pod lives")
    {
        world.slurm.end_job(1, JobState::timeout);
    }
    SUBCASE("somebody cancels it")
    {
        world.end("a");
        world.slurm.scancel(1);
    }
    SUBCASE("while there is no agent")
    {
        world.end("a");
        world.finish_deletion("a");
        world.kill_agent();
        world.slurm.end_job(1, JobState::timeout);
        world.start_agent();
    }
    SUBCASE("the user has made it look like somebody else's claim")
    {
        world.end("a");
        std::string text = world.kube.claim({"default", "c"});
        world.kube.put_claim(json_with(
            text, "metadata",
            json_with(*json_text(text, "metadata"), "managedFields", "[]")));
        world.slurm.end_job(1, JobState::timeout);
    }
    SUBCASE("the user has deleted the claim under its Pods")
    {
        world.end("a");
        world.kube.erase_claim({"default", "c"});
        world.pass(seconds(3));
        CHECK(world.runs(1));
        world.slurm.end_job(1, JobState::timeout);
    }
    world.pass(seconds(5));
    CHECK(world.state(2) == JobState::cancelled);
    CHECK(world.kube.count("expire_pod") + world.kube.count("delete_pod") > 0);
}

TEST_CASE("a Pod that comes too late waits until the claim is given back")
{
    Shared world;
    world.slurm.hold(3);
    world.create(with_claim("late"));
    world.pass(seconds(2));
    REQUIRE(world.slurm.job(3).asked.gres_per_task.empty());
    world.end_containers("b", 0);
    world.end_containers("a", 0); // and nobody collects the claim yet
    world.pass(seconds(3));
    CHECK(is_ended(world.state(1)));
    world.slurm.release(3);
    world.pass(seconds(3));
    CHECK(world.node_of("late").empty());

    world.collect();
    world.pass(seconds(30));
    CHECK_FALSE(world.node_of("late").empty());
    CHECK(world.slurm.living().back().asked.gres_per_task == "gres/gpu:g:2");
}

TEST_CASE("a Pod may follow a job that counts for others only")
{
    Shared world;
    world.end("a");
    world.create(with_claim("late"));
    world.pass(seconds(5));
    CHECK_FALSE(world.node_of("late").empty());
    world.run_containers("late");
    world.end("b");
    CHECK(world.runs(1));
    world.end("late");
    CHECK(world.state(1) == JobState::completed);
}

TEST_CASE("slurmctld loses the jobs: who adopts first counts the devices")
{
    Shared world;
    world.end("a");
    for (JobId job : {1, 2})
        world.slurm.purge(job);
    world.pass(world.conf.resync_interval + seconds(30));
    REQUIRE(world.slurm.living().size() == 1);
    CHECK(world.slurm.living().front().asked.gres_per_task == "gres/gpu:g:2");
    CHECK(world.slurm.living().front().asked.tag.claims ==
          std::vector<std::string>{"c"});
    CHECK(world.pod("b")->phase == "Running");
}
