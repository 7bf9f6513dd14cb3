// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/gang_jobs.h"
#include "tests/unit/fakes/make.h"
#include "tests/unit/owner/owner_bed.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace bridge;
using Type = HookMessage::Type;

namespace {

struct Bed : OwnerBed {
    GangStore gangs;
    KnownNodes nodes;
    Agenda agenda{context};
    PluginLine line{context};
    JobLists lists{context, errands, line};
    EarlyHooks early{context, line, lists, gangs, nodes};
    GangJobs jobs{context, {agenda, line, early, gangs}};
    GangEntry &entry = *gangs.find(gangs.put(make_pod("web")));
    Gang &gang = entry.gang;

    static HookMessage hook(Type type, JobId id)
    {
        HookMessage hook{.type = type,
                         .job = make_job(id, JobState::pending).ref};
        hook.nodes = "kn1";
        hook.cpus = 1;
        hook.ours = true;
        return hook;
    }
};

} // namespace

TEST_CASE("a hook that comes before the answer to its submit is applied with "
          "the job")
{
    Bed bed;
    CHECK_FALSE(bed.jobs.allocated(Bed::hook(Type::allocated, 1)));
    CHECK_FALSE(bed.gang.prolog_held);

    bed.jobs.set(bed.entry, make_job(1, JobState::pending));
    CHECK(bed.gang.prolog_held);
    CHECK(bed.gang.job->state == JobState::configuring);
    CHECK(bed.gang.job->nodes == std::vector<std::string>{"kn1"});

    bed.jobs.start(bed.gang);
    CHECK_FALSE(bed.gang.prolog_held);
    CHECK(bed.gang.job->state == JobState::running);
}

TEST_CASE("a held epilog of the former job is kept for it")
{
    Bed bed;
    bed.jobs.set(bed.entry, make_job(1, JobState::running));
    bed.jobs.ended(Bed::hook(Type::ended, 1), true);
    CHECK(bed.gang.epilog_held);
    CHECK(bed.gang.stale);

    bed.jobs.set(bed.entry, make_job(2, JobState::pending));
    auto kept = bed.early.take(make_job(1, JobState::running).ref);
    REQUIRE(kept);
    CHECK(kept->type == Type::ended);
}

TEST_CASE("the epilog of a job that no gang has is kept until all is known")
{
    Bed bed;
    JobRef job = make_job(7, JobState::running).ref;
    bed.jobs.ended(Bed::hook(Type::ended, 7), false);
    CHECK(bed.early.take(job));

    bed.jobs.ended(Bed::hook(Type::ended, 7), true);
    CHECK_FALSE(bed.early.take(job));
}

TEST_CASE("a job that is given back keeps its held prolog")
{
    Bed bed;
    bed.jobs.set(bed.entry, make_job(1, JobState::pending));
    CHECK(bed.jobs.allocated(Bed::hook(Type::allocated, 1)));
    JobRef job = bed.gang.job->ref;
    bed.jobs.give_back(bed.entry, job);
    CHECK_FALSE(bed.gang.job);
    auto kept = bed.early.take(job);
    REQUIRE(kept);
    CHECK(kept->type == Type::allocated);
    CHECK(kept->batch);
}

TEST_CASE("a plugin that is gone holds no hook as far as is known")
{
    Bed bed;
    bed.jobs.set(bed.entry, make_job(1, JobState::pending));
    bed.jobs.allocated(Bed::hook(Type::allocated, 1));
    bed.jobs.allocated(Bed::hook(Type::allocated, 2));
    bed.jobs.forget_hooks();
    CHECK_FALSE(bed.gang.prolog_held);
    CHECK_FALSE(bed.early.take(make_job(2, JobState::pending).ref));
}
