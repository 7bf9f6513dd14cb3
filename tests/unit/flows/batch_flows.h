// SPDX-License-Identifier: GPL-2.0-or-later
// What must come out the same for batch jobs of every kind, each in a
// ScriptWorld with submit(), run() and check_runs(): wherever the agent is
// killed, the job is cancelled or an answer is lost while the Pods of a job are
// made.
#pragma once

#include "tests/unit/flows/script_world.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <initializer_list>

namespace bridge {

inline void nothing_more(const ScriptWorld &, JobRef) {}

// A job of the world has no Pod before it has nodes; then so many, at once.
template <class JobWorld>
void check_made_when_placed(JobWorld &world, std::size_t pods)
{
    world.start_agent();

    JobRef job = world.submit();
    world.settle();
    CHECK(world.kube.pods().empty());
    world.slurm.schedule();
    world.settle();

    world.check_runs(job);
    CHECK(world.kube.count("create_pod") == pods);
    CHECK(world.kube.count("bind") == pods);
    CHECK(world.slurm.count("submit") == 0);
    CHECK(world.slurm.starts == 1);
}

// After each number of steps below that one the agent is killed.
template <class JobWorld, class Then = decltype(&nothing_more)>
void check_kills_while_made(int most_steps, Then then = nothing_more)
{
    for (int steps = 0; steps < most_steps; steps++) {
        CAPTURE(steps);
        JobWorld world;
        world.start_agent();
        JobRef job = world.submit();
        world.slurm.schedule();
        world.step(steps);

        world.start_agent();
        world.pass(std::chrono::seconds(10));

        world.check_runs(job);
        then(world, job);
    }
}

// Likewise the job is cancelled: a Pod that is not bound then never is, and the
// job is over when no Pod lives.
template <class JobWorld> void check_cancels_while_made(int most_steps)
{
    for (int steps = 0; steps < most_steps; steps++) {
        CAPTURE(steps);
        JobWorld world;
        world.start_agent();
        JobRef job = world.submit();
        world.slurm.schedule();
        world.step(steps);

        world.slurm.scancel(job.id);
        world.pass(std::chrono::seconds(90));

        for (const Pod &pod : world.kube.pods())
            CHECK((pod.bound() || pod.phase == "Failed"));
        CHECK(world.slurm.jobs().size() == 1);
        bool living = std::ranges::any_of(
            world.kube.pods(), [](const Pod &pod) { return pod.living(); });
        CHECK(world.record(job).epilog_held == living);
    }
}

// Each of those calls fails so many times, or is done and nobody hears of it.
template <class JobWorld, class Then = decltype(&nothing_more)>
void check_lost_answers(std::initializer_list<const char *> calls, int times,
                        Then then = nothing_more)
{
    for (const char *what : calls) {
        for (bool lose : {false, true}) {
            CAPTURE(what);
            CAPTURE(lose);
            JobWorld world;
            world.start_agent();
            for (int i = 0; i < times; i++)
                if (lose)
                    world.kube.lose_reply(what);
                else
                    world.kube.fail_next(what, Code::busy);

            JobRef job = world.run();
            world.pass(std::chrono::seconds(10));

            world.check_runs(job);
            then(world, job);
        }
    }
}

} // namespace bridge
