// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/job_choice.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>
#include <vector>

using namespace bridge;

namespace {

Job job_of(JobId id, JobState state, std::uint32_t generation = 0)
{
    Job job = make_job(id, state);
    job.tag.generation = generation;
    return job;
}

// A lone Pod that the job bound to kn1; not bound where there is no job.
Gang gang_of(const Job *binder)
{
    Pod pod = make_pod("web");
    return make_gang(binder ? with_binding(pod, *binder, "kn1") : pod);
}

JobId chosen_of(const Gang &gang, const std::vector<Job> &jobs)
{
    const Job *chosen = choose_job(gang, jobs);
    return chosen ? chosen->ref.id : 0;
}

} // namespace

TEST_CASE("of a Pod that waits, the oldest job that lives counts")
{
    Gang gang = gang_of(nullptr);
    Job over = job_of(1, JobState::cancelled);
    Job first = job_of(2, JobState::pending);
    Job second = job_of(3, JobState::running);
    CHECK(chosen_of(gang, {over, first, second}) == 2);
    CHECK(chosen_of(gang, {}) == 0);
}

TEST_CASE("of jobs that have all ended, the one of the highest generation "
          "counts, since the agent ended others as duplicates")
{
    Gang gang = gang_of(nullptr);
    CHECK(chosen_of(gang, {job_of(1, JobState::cancelled, 1),
                           job_of(2, JobState::cancelled, 2),
                           job_of(3, JobState::cancelled, 2)}) == 2);
}

TEST_CASE("of a Pod that runs, the job that bound it counts while it has nodes")
{
    Job binder = job_of(2, JobState::running);
    Gang gang = gang_of(&binder);
    CHECK(is_binder(gang, binder));
    Job other = job_of(1, JobState::running);
    CHECK_FALSE(is_binder(gang, other));
    CHECK(chosen_of(gang, {other, binder}) == 2);
}

TEST_CASE("otherwise one of a higher generation, which is to adopt the Pod")
{
    Job binder = job_of(2, JobState::pending); // its allocation is lost
    Gang gang = gang_of(&binder);
    CHECK(lost_allocation(gang, binder));
    CHECK(chosen_of(gang, {binder, job_of(3, JobState::pending, 0)}) == 2);
    CHECK(chosen_of(gang, {binder, job_of(3, JobState::pending, 1)}) == 3);
    CHECK(chosen_of(gang, {job_of(3, JobState::pending, 0)}) == 0);
}

TEST_CASE("a job that slurmctld placed on other nodes than its Pods' has lost "
          "its allocation")
{
    Job binder = job_of(2, JobState::running);
    Gang gang = gang_of(&binder);
    binder.nodes = {"kn1"};
    CHECK_FALSE(lost_allocation(gang, binder));
    binder.nodes = {"kn2"};
    CHECK(lost_allocation(gang, binder));
}
