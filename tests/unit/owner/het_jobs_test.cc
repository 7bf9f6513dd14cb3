// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/het_jobs.h"
#include "tests/unit/fakes/make.h"
#include "tests/unit/owner/owner_bed.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace bridge;

namespace {

struct Bed : OwnerBed {
    GangStore gangs;
    HetJobs het{context, errands, gangs};

    GangEntry &gang(const std::string &name, const std::string &partition)
    {
        Pod pod = make_pod(name);
        pod.annotations["slurmk8s/partition"] = partition;
        return *gangs.find(gangs.put(pod));
    }

    // Its job has two components, of which the id is the leader's.
    GangEntry &het_gang(JobId id, const std::string &partition)
    {
        GangEntry &entry = gang("het" + std::to_string(id), partition);
        Job job = make_job(id, JobState::pending);
        job.tag.components = 2;
        gangs.set_job(entry, job, context.now);
        het.note(entry.gang);
        return entry;
    }
};

} // namespace

TEST_CASE("there is no kick for partitions in which a heterogeneous job waits")
{
    Bed bed;
    Gang same = bed.gang("one", "gpu,cpu").gang;
    Gang other = bed.gang("two", "debug").gang;
    CHECK_FALSE(bed.het.is_quiet(same));

    GangEntry &waiting = bed.het_gang(1, "cpu");
    CHECK(bed.het.is_quiet(same));
    CHECK_FALSE(bed.het.is_quiet(other));

    waiting.gang.job->state = JobState::running;
    CHECK_FALSE(bed.het.is_quiet(same));
    waiting.gang.job->state = JobState::pending;
    CHECK_FALSE(bed.het.is_quiet(same)); // until it is decided again
    bed.het.note(waiting.gang);
    CHECK(bed.het.is_quiet(same));
}

TEST_CASE("a heterogeneous job waits in the partitions it was requested in")
{
    Bed bed;
    Gang cpu = bed.gang("one", "cpu").gang;
    Gang gpu = bed.gang("two", "gpu").gang;
    GangEntry &first = bed.het_gang(1, "cpu,gpu,cpu");
    GangEntry &second = bed.het_gang(2, "cpu");

    // Another annotation is no other job.
    Pod changed = *second.gang.pods.front();
    changed.annotations["slurmk8s/partition"] = "debug";
    bed.gangs.put(changed);
    bed.het.note(second.gang);
    CHECK_FALSE(bed.het.is_quiet(second.gang));

    first.gang.job->state = JobState::running;
    bed.het.note(first.gang);
    CHECK(bed.het.is_quiet(cpu)); // for the second one
    CHECK_FALSE(bed.het.is_quiet(gpu));

    second.gang.job->ref.id = 3; // requested anew
    bed.het.note(second.gang);
    CHECK_FALSE(bed.het.is_quiet(cpu));
    CHECK(bed.het.is_quiet(second.gang));

    bed.gangs.erase(std::string(second.gang.uid));
    CHECK_FALSE(bed.het.is_quiet(bed.gang("three", "debug").gang));
}

TEST_CASE("without a partition, heterogeneous jobs wait in the default one")
{
    Bed bed;
    Gang same = bed.gang("one", "").gang;
    Gang other = bed.gang("two", "cpu").gang;
    bed.het_gang(1, "");
    CHECK(bed.het.is_quiet(same));
    CHECK_FALSE(bed.het.is_quiet(other));
}

TEST_CASE("what is left of a refused job is ended, and is no job of the gang")
{
    Bed bed;
    Job whole = make_job(1, JobState::pending);
    Job rest = make_job(2, JobState::pending);
    rest.tag.components = 2; // and it has none
    std::vector<Job> jobs{whole, rest};
    bed.het.drop_broken(jobs);
    REQUIRE(jobs.size() == 1);
    CHECK(jobs.front().ref.id == 1);
    CHECK(bed.workers.size() == 1);
}
