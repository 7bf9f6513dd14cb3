// SPDX-License-Identifier: GPL-2.0-or-later
// One case for each line of agent/decide/decide_gang.h's table.
#include "agent/decide/decide_gang.h"

#include "agent/objects/gang_key.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

const NodeMap nodes{{"kn1", "kn1"}, {"kn2", "kn2"}};

template <class Kind> Kind expect(const Gang &gang)
{
    Decision action = decide(gang, nodes);
    CAPTURE(decision_name(action));
    REQUIRE(is_kind<Kind>(action));
    return *as_kind<Kind>(action);
}

// Three Pods that wait.
Gang waiting()
{
    return make_train(
        {make_member("a", "3"), make_member("b", "3"), make_member("c", "3")});
}

Gang with_job(JobState state)
{
    Gang gang = waiting();
    gang.job = make_train_job(state, 3);
    return gang;
}

void bind(Gang &gang, std::size_t i)
{
    Job job = *gang.job;
    job.nodes = {"kn1"};
    gang.pods[i] = share(with_binding(*gang.pods[i], job, "kn1"));
}

// All are bound by that job, which was allocated before it came to this state.
Gang bound(JobState state)
{
    Gang gang = with_job(JobState::running);
    for (std::size_t i = 0; i < gang.pods.size(); i++)
        bind(gang, i);
    gang.job->state = state;
    return gang;
}

void end(Gang &gang, std::size_t i, const std::string &phase, int code = 0)
{
    Pod pod = with_end(*gang.pods[i], phase);
    pod.containers = {
        {"main", true, code, 0, code == 0 ? "Completed" : "Error"}};
    gang.pods[i] = share(pod);
}

void remove(Gang &gang, std::size_t i)
{
    gang.pods.erase(gang.pods.begin() + static_cast<std::ptrdiff_t>(i));
}

void own_all(Gang &gang)
{
    for (PodPtr &pod : gang.pods) {
        Pod owned = *pod;
        owned.owner = {"batch/v1", "Job", "steps", "uid-steps"};
        pod = share(owned);
    }
}

void delete_all(Gang &gang)
{
    for (PodPtr &pod : gang.pods)
        pod = share(with_deletion(*pod));
}

} // namespace

TEST_CASE("gang: a stale job is looked at before all else")
{
    for (JobState state :
         {JobState::pending, JobState::running, JobState::cancelled}) {
        Gang gang = bound(state);
        gang.stale = true;
        expect<Look>(gang);
    }
}

TEST_CASE("gang: without a job it is asked for when enough Pods exist")
{
    Gang gang = waiting();
    expect<Submit>(gang);

    remove(gang, 0);
    CHECK(expect<Wait>(gang).reason == "2 of 3 Pods of gang train exist.");
    gang.minimum = 2;
    expect<Submit>(gang);

    gang.unfit_reason = "the Pods say different sizes";
    CHECK(expect<Refuse>(gang).reason == gang.unfit_reason);
}

TEST_CASE("gang: a Pod that is going, or over, does not make it complete")
{
    Gang gang = waiting();
    gang.pods[0] = share(with_deletion(*gang.pods[0]));
    CHECK(expect<Wait>(gang).reason == "2 of 3 Pods of gang train exist.");
    end(gang, 0, "Failed");
    expect<Wait>(gang);
    end(gang, 0, "Succeeded"); // somebody's who used the name before
    expect<Wait>(gang);
}

TEST_CASE("gang: those of a controller that have ended well are not made again")
{
    Gang gang = waiting();
    own_all(gang);
    end(gang, 0, "Succeeded");
    end(gang, 1, "Succeeded");

    expect<Submit>(gang);
    gang.times.may_refill = true; // but the next ones may be about to come
    CHECK(expect<Wait>(gang).reason == "");
}

TEST_CASE("gang: without Pods it is forgotten, after an uncertain submit found")
{
    Gang gang = waiting();
    gang.submit_uncertain = true;
    expect<Find>(gang);

    gang.submit_uncertain = false;
    gang.pods.clear();
    expect<Forget>(gang);
}

TEST_CASE("gang: what lives by a lost job is split")
{
    Gang gang = bound(JobState::running);
    gang.job.reset();
    expect<Split>(gang);

    gang = bound(JobState::pending); // slurmctld came back to an older state
    expect<Split>(gang);

    gang = bound(JobState::running); // and gave it other nodes
    gang.job->nodes = {"kn2"};
    expect<Split>(gang);

    gang = bound(JobState::node_fail); // it forgot its nodes
    expect<Split>(gang);
    gang.node_down = true;
    expect<EndPods>(gang);
}

TEST_CASE("gang: somebody else's bindings say nothing")
{
    Gang gang = waiting();
    Pod foreign = *gang.pods[0];
    foreign.node_name = "kn1";
    gang.pods[0] = share(foreign);

    CHECK(expect<Wait>(gang).reason == "2 of 3 Pods of gang train exist.");
}

TEST_CASE("gang: a pending job that is not for these Pods is replaced")
{
    expect<Wait>(with_job(JobState::pending));

    Gang gang = with_job(JobState::pending);
    remove(gang, 2);
    CHECK(expect<Renew>(gang).reason == "2 of 3 Pods of gang train exist.");

    gang = with_job(JobState::pending);
    gang.pods[0] = share(make_member("a-again", "3"));
    CHECK(expect<Renew>(gang).generation == 1);

    gang = with_job(JobState::pending);
    gang.pods.push_back(share(make_member("d", "3")));
    CHECK(expect<Renew>(gang).reason.contains(
        "number of Pods of the gang has changed"));

    gang = with_job(JobState::pending);
    gang.pods.clear();
    expect<Cancel>(gang);
}

TEST_CASE("gang: all are bound, then the job starts")
{
    Gang gang = with_job(JobState::configuring);
    gang.prolog_held = true;
    CHECK(expect<Bind>(gang).seats.size() == 3);

    bind(gang, 1); // and then the agent was killed
    auto seats = expect<Bind>(gang).seats;
    REQUIRE(seats.size() == 2);
    CHECK(seats[0].pod == "uid-a");
    CHECK(seats[1].pod == "uid-c");

    gang = bound(JobState::configuring);
    gang.prolog_held = true;
    expect<Start>(gang);
    gang.prolog_held = false;
    expect<Wait>(gang);
}

TEST_CASE("gang: the CPUs on each node are read before it is bound")
{
    Gang gang = with_job(JobState::configuring);
    gang.job->cpus_on.clear();
    expect<Look>(gang);
}

TEST_CASE("gang: an allocation that is not for these Pods is given back")
{
    Gang gang = with_job(JobState::configuring);
    remove(gang, 1);
    CHECK(expect<Renew>(gang).reason == "2 of 3 Pods of gang train exist.");

    gang = with_job(JobState::configuring);
    gang.placement.misplaced_reason = "the Node kn2 is not suitable";
    CHECK(expect<Renew>(gang).reason == gang.placement.misplaced_reason);

    gang = with_job(JobState::configuring);
    gang.bind_overdue = true;
    expect<Renew>(gang);

    gang = with_job(JobState::configuring);
    gang.job->cpus_on = {1, 1}; // a task less
    CHECK(expect<Renew>(gang).reason == "its 3 tasks are taken");
}

TEST_CASE("gang: a Pod that is gone before the start is waited for, then all "
          "are released")
{
    Gang gang = bound(JobState::configuring);
    gang.prolog_held = true;
    remove(gang, 1);
    expect<Wait>(gang);

    gang.times.short_overdue = true;
    CHECK(expect<Renew>(gang).reason == "Pods of the gang are gone");

    gang.times.short_overdue = false; // its controller has made it again
    gang.pods.push_back(share(make_member("b-again", "3")));
    CHECK(expect<Bind>(gang).seats.size() == 1);
}

TEST_CASE("gang: one that has ended before the start counts as started")
{
    Gang gang = bound(JobState::configuring);
    gang.prolog_held = true;
    end(gang, 1, "Succeeded");
    expect<Start>(gang);
}

TEST_CASE("gang: a Pod that comes while it runs gets a free place, or waits")
{
    Gang gang = bound(JobState::running);
    gang.job->cpus_on = {3, 0};
    gang.pods.push_back(share(make_member("d", "3")));
    CHECK(expect<Wait>(gang).reason.contains("7 of its gang has no place"));

    gang.bind_overdue = gang.times.short_overdue =
        true; // never touches the others
    expect<Wait>(gang);

    end(gang, 1, "Failed", 1);
    CHECK(expect<Bind>(gang).seats.front().pod == "uid-d");
}

TEST_CASE("gang: one Pod too many neither keeps it from starting nor ends it")
{
    Gang gang = bound(JobState::configuring);
    gang.job->cpus_on = {3, 0};
    gang.pods.push_back(share(make_member("d", "3")));
    gang.bind_overdue = gang.times.short_overdue = true;
    CHECK(expect<Wait>(gang).reason.contains("has no place"));
    gang.prolog_held = true;
    expect<Start>(gang);
    gang.job->state = JobState::running; // slurmctld has started anew
    expect<Start>(gang);
}

TEST_CASE("gang: once some are bound, the others get what is free")
{
    Gang gang = with_job(JobState::configuring);
    gang.job->cpus_on = {3, 0};
    bind(gang, 1);
    gang.pods.push_back(share(make_member("d", "3")));
    CHECK(expect<Bind>(gang).seats.size() == 2);
}

TEST_CASE("gang: a Pod that the job was not asked for gets no place in it")
{
    Gang gang = bound(JobState::running);
    end(gang, 2, "Failed", 1);
    Pod gated = make_member("d", "3");
    gated.gated = true;
    gang.pods.push_back(share(gated));
    CHECK(expect<Wait>(gang).reason.contains("Pod d has scheduling gates"));

    gang.pods.push_back(share(make_member("f", "3")));
    auto seats = expect<Bind>(gang).seats;
    REQUIRE(seats.size() == 1);
    CHECK(seats[0].pod == "uid-f");

    gang = with_job(JobState::configuring); // one was made anew
    gang.pods[1] = share(gated);
    CHECK(expect<Renew>(gang).reason == "Pod d has scheduling gates");
}

TEST_CASE("gang: it ends when all are over, as the first that failed")
{
    Gang gang = bound(JobState::running);
    for (std::size_t i = 0; i < 3; i++)
        end(gang, i, "Succeeded");
    CHECK(expect<Complete>(gang).status == 0);

    end(gang, 1, "Failed", 7);
    end(gang, 2, "Failed", 9);
    CHECK(expect<Complete>(gang).status == 7 << 8);

    gang.failure = End{3 << 8, ""}; // of one that is gone
    CHECK(expect<Complete>(gang).status == 3 << 8);
    gang.pods.clear();
    CHECK(expect<Complete>(gang).status == 3 << 8);
}

TEST_CASE("gang: some of it runs, so it runs")
{
    Gang gang = bound(JobState::running);
    end(gang, 0, "Failed", 1);
    end(gang, 1, "Succeeded");
    expect<Wait>(gang);
}

TEST_CASE("gang: a failed Pod of a controller may be made again for a while")
{
    Gang gang = bound(JobState::running);
    own_all(gang);
    end(gang, 0, "Succeeded");
    end(gang, 1, "Failed", 4);
    end(gang, 2, "Succeeded");
    expect<Wait>(gang);

    gang.times.rejoin_over = true;
    CHECK(expect<Complete>(gang).status == 4 << 8);
}

TEST_CASE("gang: deleted by a user, or by what owns it, it is cancelled")
{
    Gang gang = bound(JobState::running);
    delete_all(gang);
    expect<Wait>(gang); // for their containers
    for (std::size_t i = 0; i < 3; i++)
        end(gang, i, "Failed", 143);
    expect<Cancel>(gang);
    gang.pods.clear();
    expect<Cancel>(gang);

    gang = with_job(JobState::configuring);
    delete_all(gang);
    expect<Cancel>(gang);
}

TEST_CASE("gang: on a lost Node those that are ending end the job")
{
    Gang gang = bound(JobState::running);
    delete_all(gang);
    gang.lost_node_reason = "the Node kn1 is gone";
    CHECK(expect<Complete>(gang).reason == "NodeLost: the Node kn1 is gone");
}

TEST_CASE("gang: a suspended job is resumed, and cancelled the second time")
{
    expect<ResumeJob>(bound(JobState::suspended));
    expect<ResumeJob>(with_job(JobState::suspended));
    Gang again = bound(JobState::suspended);
    again.job->resumed = true;
    expect<Cancel>(again);
}

TEST_CASE("gang: when its job has ended all its Pods do")
{
    for (JobState state : {JobState::cancelled, JobState::timeout,
                           JobState::preempted, JobState::failed}) {
        Gang gang = bound(state);
        gang.epilog_held = true;
        expect<EndPods>(gang);
        delete_all(gang);
        expect<Wait>(gang);
        for (std::size_t i = 0; i < 3; i++)
            end(gang, i, "Failed", 143);
        expect<Clean>(gang);
        gang.epilog_held = false;
        expect<Wait>(gang);
        gang.pods.clear();
        expect<Forget>(gang);
    }
}

TEST_CASE("gang: one whose job was cancelled in the queue is failed, once")
{
    Gang gang = with_job(JobState::cancelled);
    expect<FailPods>(gang);

    gang.least_generation = 1; // it was the agent
    expect<Submit>(gang);
    remove(gang, 2);
    expect<Wait>(gang);

    gang = with_job(JobState::preempted);
    expect<Renew>(gang);
}

TEST_CASE("gang: Pods that come after its job has ended get another")
{
    Gang gang = bound(JobState::cancelled);
    own_all(gang);
    for (std::size_t i = 0; i < 3; i++) {
        end(gang, i, "Failed", 143);
        gang.pods.push_back(
            share(make_member("again-" + std::to_string(i), "3")));
    }
    expect<Submit>(gang);

    remove(gang, 3);
    CHECK(expect<Wait>(gang).reason == "2 of 3 Pods of gang train exist.");
}

TEST_CASE("what the claims of its Pods lead to")
{
    auto with = [](Gang gang, GangDevices devices) {
        for (PodPtr &pod : gang.pods) {
            Pod claiming = *pod;
            claiming.resource_claims = {{"gpu", "c", "", false, false}};
            pod = share(claiming);
        }
        gang.devices = std::make_shared<const GangDevices>(std::move(devices));
        return gang;
    };
    const ClaimPlan of_a{{"default", "c"}, "uid-of-c", false, {}, {}, {}, {},
                         "uid-a"};
    GangDevices left{.left = {{{"default", "c"}, "uid-of-c", "uid-a"}}};

    expect<ReleaseClaims>(with(waiting(), left));
    Gang short_of = waiting();
    remove(short_of, 0);
    expect<ReleaseClaims>(with(short_of, left)); // others may want these
    expect<ReleaseClaims>(with(with_job(JobState::pending), left));
    expect<Submit>(with(waiting(), {.gres = "gres/gpu:1"}));
    expect<Refuse>(with(waiting(), {.unfit_reason = "not supported"}));

    Gang allocated = with_job(JobState::configuring);
    expect<Look>(with(allocated, {.unread = true}));
    expect<Wait>(with(allocated, {.reason = "The claims are not listed yet."}));
    expect<Wait>(with(allocated, {.unfit_reason = "not supported"}));
    expect<Renew>(with(allocated, {.plan = {.misfit = "they are others"},
                                   .not_now = {"uid-a"}}));
    expect<Wait>(with(
        allocated, {.plan = {.wait = "one is taken"}, .not_now = {"uid-a"}}));
    auto all = expect<Bind>(with(allocated, {.plan = {.claims = {of_a}}}));
    CHECK(all.seats.size() == 3);
    CHECK(all.claims.size() == 1);

    // Some are bound: the others are no longer given up for one of them.
    bind(allocated, 1);
    auto some = expect<Bind>(
        with(allocated, {.plan = {.misfit = "others"}, .not_now = {"uid-a"}}));
    REQUIRE(some.seats.size() == 1);
    CHECK(some.seats.front().pod == "uid-c");
    expect<Wait>(with(allocated, {.plan = {.misfit = "others"},
                                  .not_now = {"uid-a", "uid-c"}}));
}

TEST_CASE("gang: the last one of a Job is made again after the gang's end")
{
    Gang gang = bound(JobState::failed);
    own_all(gang);
    end(gang, 0, "Succeeded");
    end(gang, 1, "Failed", 1);
    end(gang, 2, "Succeeded");
    expect<Wait>(gang);

    gang.pods.push_back(share(make_member("b-again", "3")));
    own_all(gang);
    expect<Submit>(gang);
}

TEST_CASE("a component that has ended takes the others with it")
{
    Gang gang = bound(JobState::timeout);
    Job other = *gang.job;
    other.ref = make_job(8, JobState::running).ref;
    other.state = JobState::running;
    gang.job->components = {*gang.job, other};
    SUBCASE("before the Pods are ended")
    {
        CHECK(expect<Cancel>(gang).job == gang.job->ref);
    }
    SUBCASE("which then are")
    {
        gang.job->components[1].state = JobState::cancelled;
        CHECK(expect<EndPods>(gang).state == JobState::timeout);
    }
    SUBCASE("but for Pods whose node slurmctld has only forgotten")
    {
        gang.job->state = gang.job->components[0].state = JobState::node_fail;
        expect<Split>(gang);
        gang.pods.clear();
        expect<Cancel>(gang);
    }
}
