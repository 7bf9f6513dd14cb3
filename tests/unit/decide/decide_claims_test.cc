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
    CHECK(std::holds_alternative<Wait>(decide(gang, nodes)));
    gang.job = job_with_gres(JobState::pending);
    CHECK(std::holds_alternative<Wait>(decide(gang, nodes)));
    gang.job = job_with_gres(JobState::configuring);
    CHECK(std::holds_alternative<Wait>(decide(gang, nodes)));
}

TEST_CASE("a job is asked for when its claims are there")
{
    CHECK(std::holds_alternative<Submit>(
        decide(with_devices({.gres = "gres/gpu:1"}), nodes)));
    auto wait = decide(with_devices({.reason = "It is not made yet."}), nodes);
    REQUIRE(std::holds_alternative<Wait>(wait));
    CHECK(std::get<Wait>(wait).reason == "It is not made yet.");
    auto refuse =
        decide(with_devices({.unfit_reason = "not supported"}), nodes);
    REQUIRE(std::holds_alternative<Refuse>(refuse));
}

TEST_CASE("what an earlier job has left in claims is given back first")
{
    GangDevices left{.left = {{{"default", "c"}, "uid-of-c"}}};
    CHECK(std::holds_alternative<ReleaseClaims>(
        decide(with_devices(left), nodes)));
    CHECK(std::holds_alternative<ReleaseClaims>(
        decide(with_devices(left, job_with_gres(JobState::pending)), nodes)));
    Gang raised = with_devices(left, job_with_gres(JobState::node_fail));
    raised.least_generation = 1;
    CHECK(std::holds_alternative<ReleaseClaims>(decide(raised, nodes)));
}

TEST_CASE("a pending job that asks for other devices is renewed")
{
    auto decided = [](const std::string &asked, const std::string &needed) {
        return decide(with_devices({.gres = needed},
                                   job_with_gres(JobState::pending, asked)),
                      nodes);
    };
    CHECK(std::holds_alternative<Wait>(
        decided("gres:gpu:1", "gres/gpu:1"))); // slurmctld's own notation
    CHECK(std::holds_alternative<Wait>(
        decided("gres/nic:1,gres/gpu:a:2", "gres/gpu:a:2,gres/nic:1")));
    CHECK(std::holds_alternative<Renew>(decided("gres/gpu:1", "")));
    CHECK(std::holds_alternative<Renew>(decided("", "gres/gpu:1")));
}

TEST_CASE("a job keeps its place while a type of device cannot be told")
{
    auto decided = [](const std::string &asked, const std::string &needed) {
        return decide(with_devices({.gres = needed},
                                   job_with_gres(JobState::pending, asked)),
                      nodes);
    };
    CHECK(std::holds_alternative<Wait>(
        decided("gres/gpu:a:1", "gres/gpu:1"))); // its driver is away
    CHECK(std::holds_alternative<Wait>(decided("gres/gpu:1", "gres/gpu:a:1")));
    CHECK(
        std::holds_alternative<Renew>(decided("gres/gpu:a:1", "gres/gpu:b:1")));
    CHECK(std::holds_alternative<Renew>(decided("gres/gpu:a:1", "gres/gpu:2")));
    CHECK(std::holds_alternative<Renew>(
        decided("gres/gpu:1", "gres/gpu:1,gres/nic:1")));
}

TEST_CASE("what an allocation with devices leads to")
{
    auto decided = [](GangDevices devices) {
        return decide(
            with_devices(devices, job_with_gres(JobState::configuring)), nodes);
    };
    CHECK(std::holds_alternative<Look>(decided({.unread = true})));
    CHECK(std::holds_alternative<Renew>(
        decided({.plan = {.misfit = "they are others"}})));
    // It is told as well why the next job has to wait.
    CHECK(std::holds_alternative<Renew>(
        decided({.reason = "That claim is somebody else's.",
                 .plan = {.misfit = "the API server refused it"}})));
    auto wait = decided({.plan = {.wait = "it is taken"}});
    REQUIRE(std::holds_alternative<Wait>(wait));
    CHECK(std::get<Wait>(wait).reason.contains("it is taken"));
    auto bind = decided(
        {.plan = {
             .claims = {{{"default", "c"}, "uid-of-c", false, {}, {}, {}}}}});
    REQUIRE(std::holds_alternative<Bind>(bind));
    CHECK(std::get<Bind>(bind).claims.size() == 1);
}
