// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/het_job.h"

#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

// A component of a job of three, whose leader is 10.
JobRecord component(std::uint32_t offset, JobState state)
{
    Job job = make_job(10 + offset, state);
    job.tag = {"default/train", "default/gang/train", 0, "uid-a"};
    job.tag.components = 3;
    job.tasks = offset + 1;
    job.cpus_per_task = static_cast<std::uint16_t>(4 - offset);
    if (is_allocated(state)) {
        job.nodes = {"kn" + std::to_string(offset)};
        job.cpus = job.tasks * job.cpus_per_task;
    }
    return {std::move(job), 10, offset};
}

Job join(std::vector<JobState> states)
{
    std::vector<JobRecord> records;
    for (std::uint32_t i = 0; i < states.size(); i++)
        records.insert(records.begin(), component(i, states[i]));
    auto jobs = join_components(std::move(records));
    REQUIRE(jobs.size() == 1);
    return jobs.front();
}

} // namespace

TEST_CASE("a heterogeneous job says of all its components what a job says")
{
    Job job = join({JobState::running, JobState::running, JobState::running});

    CHECK(job.ref == make_job(10, JobState::running).ref);
    CHECK(job.nodes == std::vector<std::string>{"kn0", "kn1", "kn2"});
    CHECK(job.cpus_on == std::vector<std::uint32_t>{4, 6, 6});
    CHECK(job.cpus == 16);
    CHECK(job.tasks == 6);
    CHECK(job.components.size() == 3);
    CHECK(refs_of(job).size() == 3);
    CHECK(covers(job, make_job(12, JobState::running).ref));
    CHECK_FALSE(covers(job, {12, Sluid{1}}));
    CHECK(component_on(job, "kn1").ref.id == 11);
    CHECK(component_on(job, "other").ref.id == 10);
    CHECK(component_of(job, job.components[2].ref).nodes.front() == "kn2");
    CHECK(is_whole(job));
    CHECK(left_over(job).empty());
}

TEST_CASE("the GRES of a heterogeneous job are those of all its components, or "
          "not known")
{
    std::vector<JobRecord> records;
    for (std::uint32_t i = 0; i < 3; i++)
        records.push_back(component(i, JobState::running));
    Job &with = records[1].job;
    with.devices = true;

    SUBCASE("one has none")
    {
        with.gres_on = {{{"gpu", "", 1, {0}}}};
        Job job = join_components(records).front();
        REQUIRE(job.gres_on.size() == 3);
        CHECK(job.gres_on[0].empty());
        CHECK(job.gres_on[1].size() == 1);
    }
    SUBCASE("those of one are not understood")
    {
        CHECK(join_components(records).front().gres_on.empty());
    }
}

TEST_CASE("the state of a heterogeneous job")
{
    using enum JobState;
    struct Row {
        std::vector<JobState> components;
        JobState job;
    };
    const Row rows[] = {
        {{pending, pending, pending}, pending},
        {{configuring, configuring, configuring}, configuring},
        {{running, running, configuring}, configuring},
        {{running, running, running}, running},
        {{running, suspended, running}, suspended},
        {{pending, running, running}, unknown},
        {{running, unknown, running}, unknown},
        {{running, cancelled, running}, cancelled},
        {{cancelled, timeout, cancelled}, timeout},
        {{cancelled, running, node_fail}, node_fail},
        {{completed, completed, completed}, completed},
        {{cancelled, cancelled, cancelled}, cancelled},
        // Not all that were asked for.
        {{cancelled, cancelled}, failed},
        {{pending}, unknown},
        {{running, running}, unknown},
    };
    for (const Row &row : rows) {
        CAPTURE(row.components.size());
        CAPTURE(state_name(row.components.front()));
        CHECK(join(row.components).state == row.job);
    }
}

TEST_CASE("what is left when a component has ended")
{
    Job job =
        join({JobState::running, JobState::cancelled, JobState::configuring});

    auto left = left_over(job);
    REQUIRE(left.size() == 2);
    CHECK(left[0].id == 10);
    CHECK(left[1].id == 12);
}

TEST_CASE("a list of jobs has each heterogeneous one once, and no others'")
{
    std::vector<JobRecord> records{{make_job(3, JobState::running)}};
    for (std::uint32_t i = 0; i < 3; i++)
        records.push_back(component(i, JobState::pending));
    JobRecord others{make_job(20, JobState::running), 20, 0};
    others.job.tag = {};
    records.push_back(others);

    auto jobs = join_components(records);

    REQUIRE(jobs.size() == 2);
    CHECK(jobs[0].ref.id == 3);
    CHECK(jobs[1].ref.id == 10);
}

TEST_CASE("somebody may write over the tag of a component, or of all")
{
    std::vector<JobRecord> records;
    for (std::uint32_t i = 0; i < 3; i++)
        records.push_back(component(i, JobState::running));
    records[0].job.tag = {};
    auto listed = join_components(records);
    REQUIRE(listed.size() == 1);
    CHECK(listed[0].tag.first == "uid-a");

    records[1].job.tag = records[2].job.tag = {};
    JobRef leader = records[0].job.ref;
    Job job = join_components(leader, std::move(records));
    CHECK(job.state == JobState::running);
    CHECK(job.components.size() == 3);
}

TEST_CASE("a component that is asked for by itself is a job like any other")
{
    JobRecord second = component(1, JobState::running);

    Job job = join_components(second.job.ref, {second});

    CHECK(job.components.empty());
    CHECK(job.state == JobState::running);
    CHECK(job.ref == second.job.ref);
}

TEST_CASE("a component that slurmctld has made part of nothing is no job")
{
    JobRecord rest = component(0, JobState::pending);
    rest.leader = 0;

    auto jobs = join_components({rest});

    REQUIRE(jobs.size() == 1);
    CHECK_FALSE(is_whole(jobs[0]));
    CHECK(jobs[0].state == JobState::unknown);
}
