// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/action.h"
#include "agent/owner/queue_places.h"
#include "tests/unit/fakes/make.h"
#include "tests/unit/owner/owner_bed.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

using namespace bridge;

namespace {

struct Bed : OwnerBed {
    GangStore gangs;
    QueuePlaces places{context};

    // One place for all.
    Bed()
    {
        Conf conf = *context.conf;
        conf.max_pending_jobs = 1;
        conf.max_pending_in_namespace = 0;
        context.conf = std::make_shared<const Conf>(conf);
        places.set_limits();
        places.set_namespaces(1);
    }

    GangEntry &gang(const std::string &name)
    {
        return *gangs.find(gangs.put(make_pod(name)));
    }
};

} // namespace

TEST_CASE("a gang beyond the limit stands in line until a place is free")
{
    Bed bed;
    GangEntry &first = bed.gang("first");
    std::string reason;
    CHECK(bed.places.may_ask(first, reason));
    CHECK(reason.empty());
    first.in_flight = Action(Submit{}).index();
    bed.places.decided(first.gang.uid, &first, true);

    GangEntry &second = bed.gang("second");
    CHECK_FALSE(bed.places.may_ask(second, reason));
    CHECK(reason.contains("MaxPendingJobs"));
    bed.places.decided(second.gang.uid, &second, true);
    CHECK(bed.places.is_in_line(second.gang.uid));
    CHECK(bed.places.counted() == 1);
    CHECK(bed.places.admit().empty());

    first.in_flight.reset();
    bed.places.decided(first.gang.uid, &first, false);
    CHECK(bed.places.admit() == std::vector{second.gang.uid});
    CHECK(bed.places.may_ask(second, reason));
}

TEST_CASE("a gang that is gone leaves the line")
{
    Bed bed;
    std::string reason;
    CHECK(bed.places.may_ask(bed.gang("first"), reason));
    GangEntry &second = bed.gang("second");
    CHECK_FALSE(bed.places.may_ask(second, reason));
    bed.places.decided(second.gang.uid, nullptr, false);
    CHECK(bed.places.in_line() == 0);
}

TEST_CASE("the job of sbatch takes no place of Pods")
{
    Bed bed;
    GangEntry &entry = bed.gang("batch");
    Job job = make_job(1, JobState::pending);
    job.tag.script = "job.sh";
    bed.gangs.set_job(entry, job, bed.context.now);
    bed.places.count(entry);
    CHECK(bed.places.counted() == 0);

    entry.gang.job->tag.script.clear();
    bed.places.count(entry);
    CHECK(bed.places.counted() == 1);
}
