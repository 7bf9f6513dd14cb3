// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/batch_gang.h"

#include "agent/gang/batch_mark.h"
#include "agent/gang/batch_place.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

PodPtr batch_pod(const std::string &name, const BatchPlace &place)
{
    Pod pod = make_pod(name);
    pod.annotations["slurmk8s/sbatch"] =
        encode(BatchMark{{7, Sluid{1007}}, std::string(32, 'a')});
    pod.annotations[names::batch_place_annotation] = encode(place);
    return std::make_shared<const Pod>(pod);
}

PodPtr ended(const PodPtr &pod)
{
    Pod made = *pod;
    made.phase = "Failed";
    return std::make_shared<const Pod>(made);
}

// Of a job on kn1 and kn3, whose script waits to be bound.
Gang gang_of(PodPtr worker)
{
    Gang gang;
    gang.uid = "default/gang/train";
    gang.grouped = gang.batch = true;
    gang.job = make_job(7, JobState::configuring);
    gang.job->nodes = {"kn1", "kn3"};
    gang.pods = {batch_pod("train", {0, 2, "kn1"}), std::move(worker)};
    return gang;
}

} // namespace

TEST_CASE("a worker that ends ends its job")
{
    Gang gang = gang_of(ended(batch_pod("w", {1, 2, "kn3", "uid-train"})));

    auto end = end_of_batch(gang);

    REQUIRE(end.has_value());
    CHECK(end->end.status != 0);
}

TEST_CASE("a worker of an earlier placement of the job does not")
{
    CHECK_FALSE(
        end_of_batch(gang_of(ended(batch_pod("w", {1, 2, "kn2", "uid-other"}))))
            .has_value());
}
