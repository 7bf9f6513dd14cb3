// SPDX-License-Identifier: GPL-2.0-or-later
// What decide() says of a Pod with ResourceClaims.
#include "agent/decide/decide.h"

#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

const NodeMap nodes = {{"kn1", "kn1"}};

Gang with_devices(GangDevices devices, std::optional<Job> job = std::nullopt)
{
    Pod pod = make_pod("web");
    pod.resource_claims = {{"gpu", "c", "", false, false}};
    Gang gang = make_gang(pod);
    gang.devices = std::make_shared<const GangDevices>(std::move(devices));
    gang.job = std::move(job);
    return gang;
}

Job job_with_gres(JobState state, const std::string &gres = "gres/gpu:1")
{
    Job job = make_job(1, state);
    job.gres_per_task = gres;
    return job;
}

} // namespace

TEST_CASE("a Pod whose claims are not known yet waits")
{
    Gang gang = with_devices({});
    gang.devices.reset();
    CHECK(is_kind<Wait>(decide(gang, nodes)));
    gang.job = job_with_gres(JobState::pending);
    CHECK(is_kind<Wait>(decide(gang, nodes)));
    gang.job = job_with_gres(JobState::configuring);
    CHECK(is_kind<Wait>(decide(gang, nodes)));
}

TEST_CASE("a job is asked for when its claims are there")
{
    CHECK(is_kind<Submit>(decide(with_devices({.gres = "gres/gpu:1"}), nodes)));
    auto wait = decide(with_devices({.reason = "It is not made yet."}), nodes);
    REQUIRE(is_kind<Wait>(wait));
    CHECK(as_kind<Wait>(wait)->reason == "It is not made yet.");
    auto refuse =
        decide(with_devices({.unfit_reason = "not supported"}), nodes);
    REQUIRE(is_kind<Refuse>(refuse));
}

TEST_CASE("what an earlier job has left in claims is given back first")
{
    GangDevices left{.left = {{{"default", "c"}, "uid-of-c"}}};
    CHECK(is_kind<ReleaseClaims>(decide(with_devices(left), nodes)));
    CHECK(is_kind<ReleaseClaims>(
        decide(with_devices(left, job_with_gres(JobState::pending)), nodes)));
    Gang raised = with_devices(left, job_with_gres(JobState::node_fail));
    raised.least_generation = 1;
    CHECK(is_kind<ReleaseClaims>(decide(raised, nodes)));
}

TEST_CASE("a pending job that asks for other devices is renewed")
{
    auto decided = [](const std::string &asked, const std::string &needed) {
        return decide(with_devices({.gres = needed},
                                   job_with_gres(JobState::pending, asked)),
                      nodes);
    };
    CHECK(is_kind<Wait>(
        decided("gres:gpu:1", "gres/gpu:1"))); // slurmctld's own notation
    CHECK(is_kind<Wait>(
        decided("gres/nic:1,gres/gpu:a:2", "gres/gpu:a:2,gres/nic:1")));
    CHECK(is_kind<Renew>(decided("gres/gpu:1", "")));
    CHECK(is_kind<Renew>(decided("", "gres/gpu:1")));
}

TEST_CASE("a job keeps its place while a type of device cannot be told")
{
    auto decided = [](const std::string &asked, const std::string &needed) {
        return decide(with_devices({.gres = needed},
                                   job_with_gres(JobState::pending, asked)),
                      nodes);
    };
    CHECK(is_kind<Wait>(
        decided("gres/gpu:a:1", "gres/gpu:1"))); // its driver is away
    CHECK(is_kind<Wait>(decided("gres/gpu:1", "gres/gpu:a:1")));
    CHECK(is_kind<Renew>(decided("gres/gpu:a:1", "gres/gpu:b:1")));
    CHECK(is_kind<Renew>(decided("gres/gpu:a:1", "gres/gpu:2")));
    CHECK(is_kind<Renew>(decided("gres/gpu:1", "gres/gpu:1,gres/nic:1")));
}

TEST_CASE("what an allocation with devices leads to")
{
    auto decided = [](GangDevices devices) {
        return decide(
            with_devices(devices, job_with_gres(JobState::configuring)), nodes);
    };
    CHECK(is_kind<Look>(decided({.unread = true})));
    CHECK(is_kind<Renew>(decided({.plan = {.misfit = "they are others"}})));
    // It is told as well why the next job has to wait.
    CHECK(is_kind<Renew>(
        decided({.reason = "That claim is somebody else's.",
                 .plan = {.misfit = "the API server refused it"}})));
    auto wait = decided({.plan = {.wait = "it is taken"}});
    REQUIRE(is_kind<Wait>(wait));
    CHECK(as_kind<Wait>(wait)->reason.contains("it is taken"));
    auto bind = decided(
        {.plan = {
             .claims = {{{"default", "c"}, "uid-of-c", false, {}, {}, {}}}}});
    REQUIRE(is_kind<Bind>(bind));
    CHECK(as_kind<Bind>(bind)->claims.size() == 1);
}

TEST_CASE("nothing is bound before it is known which nodes count its devices")
{
    GangDevices devices{
        .unknown = true,
        .plan = {
            .claims = {{{"default", "c"}, "uid-of-c", false, {}, {}, {}}}}};
    Job job = job_with_gres(JobState::configuring);
    auto wait = decide(with_devices(devices, job), nodes);
    REQUIRE(is_kind<Wait>(wait));
    CHECK(as_kind<Wait>(wait)->reason.empty()); // it takes a moment
    devices.unknown = false;
    CHECK(is_kind<Bind>(decide(with_devices(devices, job), nodes)));
}
