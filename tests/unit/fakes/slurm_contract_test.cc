// SPDX-License-Identifier: GPL-2.0-or-later
// The contract of slurm_contract.h, held against the fake, and against a real
// slurmctld where SLURM_CONTRACT=1 says that there is one to be used, and we
// are its SlurmUser; tests/integration does that.
#include "tests/unit/fakes/slurm_contract.h"

#include "tests/unit/fakes/fake_slurm.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <unistd.h>

using namespace bridge;

TEST_CASE("the fake does what every Slurm must do")
{
    FakeSlurm slurm;

    SlurmSetup setup{.node = "contract-1",
                     .partition = "own",
                     .higher = "high",
                     .user_id = 1001,
                     .group_id = 1001};
    Partition own;
    own.name = setup.partition;
    own.nodes = {setup.node};
    own.up = true;
    Partition higher = own;
    higher.name = setup.higher;
    higher.tier = 1;
    slurm.partitions = {own, higher};
    setup.wait = [&](const auto &until) {
        slurm.schedule();
        return until();
    };

    slurm_contract(slurm, setup);
}

TEST_CASE("the real slurmctld does what every Slurm must do" *
          doctest::skip(!std::getenv("SLURM_CONTRACT")))
{
    SlurmApi slurm;

    SlurmSetup setup{.node = "contract-" + std::to_string(getpid()),
                     .partition = "kwok", // of the sandbox
                     .partition_feature = "kwok",
                     .higher = "high",
                     .user_id = 1001,
                     .group_id = 1001};
    setup.wait = [](const auto &until) {
        for (int i = 0; i < 500; i++) {
            if (until())
                return true;
            usleep(10'000);
        }
        return false;
    };

    slurm_contract(slurm, setup);
}

TEST_CASE("the fake holds hooks and frees resources at once, as slurmctld does")
{
    FakeSlurm slurm;
    slurm.add_node("kn1", 1);
    std::vector<HookMessage> seen;
    slurm.hooks = [&](HookMessage m) { seen.push_back(std::move(m)); };
    JobDescription job;
    job.features = "k8s";
    job.memory_per_node = MebiBytes{1};
    job.tag = {"default/web", "uid-web", 0};
    JobRef first = *slurm.submit(job);
    JobRef second = *slurm.submit(job);
    CHECK(slurm.job(first.id).job.state == JobState::pending);

    slurm.schedule();
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].type == HookMessage::Type::allocated);
    CHECK(slurm.job(first.id).job.state == JobState::configuring);
    CHECK(slurm.job(second.id).job.state == JobState::pending);

    slurm.scancel(first.id);
    slurm.schedule();
    CHECK(slurm.job(first.id).epilog_held);
    CHECK(slurm.job(second.id).job.state == JobState::configuring);
    REQUIRE(seen.size() == 3);
    CHECK(seen[1].type == HookMessage::Type::ended);

    JobRef third = *slurm.submit(job);
    slurm.scancel(third.id); // pending: no hook
    CHECK(seen.size() == 3);
}
