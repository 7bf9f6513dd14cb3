// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/decide.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

const NodeMap kn1 = {{"kn1", "node-1"}};

const JobState allocated_states[] = {JobState::configuring, JobState::running};

const JobState ended_states[] = {
    JobState::completed, JobState::cancelled, JobState::failed,
    JobState::timeout,   JobState::node_fail, JobState::preempted,
    JobState::boot_fail, JobState::deadline,  JobState::out_of_memory};

Pod waiting_pod()
{
    return make_pod("web");
}

Pod bound_pod()
{
    Pod pod = with_binding(make_pod("web"), make_job(7, JobState::configuring),
                           "node-1");
    pod.phase = "Running";
    return pod;
}

Gang gang_of(Pod pod, JobState state)
{
    Gang gang = make_gang(std::move(pod));
    gang.job = make_job(7, state);
    return gang;
}

Gang gang_without_pods(JobState state)
{
    Gang gang = gang_of(waiting_pod(), state);
    gang.pods.clear();
    return gang;
}

// The action, which must be of that kind.
template <class Kind> Kind expect(const Gang &gang, const NodeMap &nodes = kn1)
{
    Decision action = decide(gang, nodes);
    CAPTURE(decision_name(action));
    REQUIRE(is_kind<Kind>(action));
    CHECK(decide(gang, nodes).index() == action.index()); // pure
    return *as_kind<Kind>(action);
}

} // namespace

TEST_CASE("a job that may have changed is looked at before anything else")
{
    for (JobState state :
         {JobState::pending, JobState::configuring, JobState::running,
          JobState::suspended, JobState::cancelled, JobState::unknown}) {
        CAPTURE(state_name(state));
        for (const Pod &pod :
             {waiting_pod(), bound_pod(), with_end(bound_pod(), "Failed"),
              with_deletion(bound_pod())}) {
            Gang gang = gang_of(pod, state);
            gang.stale = true;
            gang.epilog_held = gang.prolog_held = true;

            CHECK(expect<Look>(gang).job == gang.job->ref);
        }
        Gang empty = gang_without_pods(state);
        empty.stale = true;
        expect<Look>(empty);
    }
}

TEST_CASE("without a job and without Pods, or with all over, it is forgotten")
{
    Gang empty = make_gang(waiting_pod());
    empty.pods.clear();

    expect<Forget>(empty);
    expect<Forget>(make_gang(with_end(waiting_pod(), "Failed")));
    expect<Forget>(make_gang(with_end(bound_pod(), "Succeeded")));
    expect<Forget>(make_gang(with_deletion(with_end(bound_pod(), "Failed"))));
}

TEST_CASE("after an uncertain submit its job is searched for, whatever became "
          "of the Pods")
{
    Gang gang = make_gang(waiting_pod());
    gang.submit_uncertain = true;
    expect<Find>(gang);

    gang.pods.clear();
    expect<Find>(gang);
}

TEST_CASE("an incomplete gang waits and says how many Pods there are")
{
    Gang gang = make_gang(waiting_pod());
    gang.size = 3;

    CHECK(expect<Wait>(gang).reason == "1 of 3 Pods exist");
}

TEST_CASE("a gated Pod waits without a word of ours")
{
    Pod pod = waiting_pod();
    pod.gated = true;
    pod.unfit_reasons = {"never said while it is gated"};

    CHECK(expect<Wait>(make_gang(pod)).reason == "");
}

TEST_CASE("a waiting Pod without a job gets one")
{
    expect<Submit>(make_gang(waiting_pod()));
}

TEST_CASE("a Pod for which there can be no job is refused in words")
{
    Pod pod = waiting_pod();
    pod.unfit_reasons = {"hostPort is not supported"};

    CHECK(expect<Refuse>(make_gang(pod)).reason == "hostPort is not supported");
}

TEST_CASE("a Pod whose grace period is not allowed is refused, until it runs")
{
    auto with_limit = [](Gang gang) {
        gang.grace.allowed = std::chrono::seconds(60);
        return gang;
    };
    Pod slow = waiting_pod();
    slow.grace_period = std::chrono::seconds(61);
    Pod probed = waiting_pod();
    probed.probe_grace = std::chrono::seconds(3600);
    Pod fine = waiting_pod();
    fine.grace_period = fine.probe_grace = std::chrono::seconds(60);
    Pod runs = bound_pod();
    runs.grace_period = std::chrono::seconds(61);

    expect<Submit>(with_limit(make_gang(fine)));
    for (const Pod &pod : {slow, probed}) {
        Gang pending = with_limit(gang_of(pod, JobState::pending));
        CHECK(expect<Renew>(pending).reason ==
              expect<Refuse>(with_limit(make_gang(pod))).reason);
        for (JobState state : allocated_states)
            expect<Renew>(with_limit(gang_of(pod, state)));
        Gang given_up = with_limit(gang_of(pod, JobState::cancelled));
        given_up.least_generation = 1;
        expect<Refuse>(given_up);
    }
    expect<Adopt>(with_limit(make_gang(runs))); // its job is lost
    expect<Wait>(with_limit(gang_of(runs, JobState::running)));
}

TEST_CASE("what the agent makes for a batch job is no wish of a user")
{
    Pod slow = waiting_pod();
    slow.grace_period = std::chrono::seconds(61);
    Gang gang = gang_of(slow, JobState::configuring);
    gang.grace.allowed = std::chrono::seconds(60);
    gang.batch = true;

    expect<Bind>(gang);
}

TEST_CASE("a Pod that forges our label or SLUID is refused")
{
    Pod label = waiting_pod();
    label.labels[names::job_id_label] = "7";
    Pod sluid = waiting_pod();
    sluid.annotations[names::sluid_annotation] = Sluid{7}.str();

    expect<Refuse>(make_gang(label));
    expect<Refuse>(make_gang(sluid));
}

TEST_CASE("a Pod that came bound without a job of ours is left alone")
{
    Pod foreign = waiting_pod();
    foreign.node_name = "node-1";

    expect<Wait>(make_gang(foreign));
    expect<Wait>(gang_of(foreign, JobState::unknown));
}

TEST_CASE("a Pod that lives and whose job is lost gets a new job on its node")
{
    Adopt adopt = expect<Adopt>(make_gang(bound_pod()));
    CHECK(adopt.node == "kn1"); // Slurm's name of it
    CHECK(adopt.generation == 1);

    Gang raised = make_gang(bound_pod());
    raised.least_generation = 4;
    CHECK(expect<Adopt>(raised).generation == 5);

    // It ends anyway; its node counts as dirty until then.
    expect<Wait>(make_gang(with_deletion(bound_pod())));
    expect<Wait>(make_gang(bound_pod()),
                 {}); // no Slurm node stands for its Node
    Gang unsure = make_gang(bound_pod());
    unsure.submit_uncertain = true;
    expect<Find>(unsure);
}

TEST_CASE("a job that is to adopt a Pod may wait, and is the Pod's once it is "
          "allocated")
{
    Gang gang = make_gang(bound_pod()); // by job 7, generation 0
    gang.job = make_job(9, JobState::pending);
    gang.job->tag.generation = 1;
    expect<Wait>(gang);

    gang.job = make_job(9, JobState::configuring);
    gang.job->tag.generation = 1;
    gang.prolog_held = true;
    Restamp restamp = expect<Restamp>(gang);
    CHECK(restamp.job == gang.job->ref);
    CHECK(restamp.node == "kn1");

    gang.job->nodes = {"kn2"}; // somebody changed its features meanwhile
    expect<Cancel>(gang);

    gang.job = make_job(9, JobState::pending);
    gang.job->tag.generation = 1;
    gang.pods = {share(with_end(bound_pod(), "Succeeded"))};
    CHECK(expect<Complete>(gang).reason ==
          "slurmctld lost the allocation in a crash; the Pod ended with exit "
          "code 0");
}

TEST_CASE("a Pod that lives by a job that is pending again gets another job")
{
    Gang gang = gang_of(bound_pod(), JobState::pending); // as a crash left it

    Adopt adopt = expect<Adopt>(gang);
    CHECK(adopt.node == "kn1");
    CHECK(adopt.generation == 1);

    expect<Wait>(gang_of(with_deletion(bound_pod()), JobState::pending));
    CHECK(expect<Complete>(
              gang_of(with_end(bound_pod(), "Succeeded"), JobState::pending))
              .reason ==
          "slurmctld lost the allocation in a crash; the Pod ended "
          "with exit code 0");
}

// As just after a start, when it is not known yet whether claims may be read.
TEST_CASE("a job that waits is not replaced while its claims are unread")
{
    Pod pod = waiting_pod();
    pod.claims = {{"data"}};
    Gang gang = gang_of(pod, JobState::pending);
    gang.job->features =
        std::string("k8s&") + names::predicate_prefix + "other";
    expect<LookVolumes>(gang);

    gang.placement.nowhere = "claims may not be read";
    CHECK(expect<Wait>(gang).reason == gang.placement.nowhere);
}

TEST_CASE("the job of a Pod that is over is read again when slurmctld was away")
{
    Gang gang = gang_of(with_end(bound_pod(), "Succeeded"), JobState::running);
    gang.unheard = true;
    expect<Look>(gang);

    Gang living = gang_of(bound_pod(), JobState::running);
    living.unheard = true;
    expect<Wait>(living);
}

TEST_CASE("a Pod whose job was allocated again, elsewhere, gets another job")
{
    for (JobState state : allocated_states) {
        Pod pod = bound_pod();
        pod.annotations[names::node_annotation] = "kn1";
        Gang gang = gang_of(pod, state);
        gang.job->nodes = {"kn2"};
        gang.prolog_held = true;

        NodeMap both = {{"kn1", "node-1"}, {"kn2", "node-2"}};
        CHECK(expect<Adopt>(gang, both).node == "kn1");
    }
}

TEST_CASE("a second job of the same generation adopts nothing")
{
    Gang gang = make_gang(bound_pod());
    gang.job = make_job(9, JobState::configuring);
    expect<Cancel>(gang);
    gang.job = make_job(9, JobState::pending);
    expect<Cancel>(gang);
}

TEST_CASE("a Pod that is being deleted gets no job")
{
    expect<Wait>(make_gang(with_deletion(waiting_pod())));
}

TEST_CASE("while the job is pending, a waiting Pod waits")
{
    expect<Wait>(gang_of(waiting_pod(), JobState::pending));
}

TEST_CASE("a pending job whose Pods are gone is cancelled")
{
    const JobRef job = make_job(7, JobState::pending).ref;

    CHECK(expect<Cancel>(gang_without_pods(JobState::pending)).job == job);
    expect<Cancel>(gang_of(with_deletion(waiting_pod()), JobState::pending));
    expect<Cancel>(
        gang_of(with_end(waiting_pod(), "Failed"), JobState::pending));
}

TEST_CASE("a waiting Pod is bound onto the Node behind the allocation, held "
          "prolog or not")
{
    for (JobState state : allocated_states)
        for (bool held : {false, true}) {
            Gang gang = gang_of(waiting_pod(), state);
            gang.prolog_held = held;

            Bind bind = expect<Bind>(gang);

            CHECK(bind.job == gang.job->ref);
            CHECK(bind.nodes == std::vector<std::string>{"node-1"});
        }
}

TEST_CASE("an allocation that does not fit is renewed with a reason")
{
    Gang small =
        gang_of(make_pod("web", MilliCpu{2000}), JobState::configuring);
    Gang nowhere = gang_of(waiting_pod(), JobState::configuring);
    nowhere.job->tag.generation = 4;

    CHECK(expect<Renew>(small).generation == 1);
    Renew renew = expect<Renew>(nowhere, {});
    CHECK(renew.generation == 5);
    CHECK(renew.reason != "");
}

TEST_CASE("a held prolog is let go when the Pods are bound, and only then")
{
    Gang gang = gang_of(bound_pod(), JobState::configuring);
    gang.prolog_held = true;
    CHECK(expect<Start>(gang).job == gang.job->ref);

    Gang assumed = gang_of(waiting_pod(), JobState::configuring);
    assumed.prolog_held = true;
    assumed.assumed_bound["uid-web"] = {};
    expect<Start>(assumed);

    gang.prolog_held = false;
    expect<Wait>(gang);
}

TEST_CASE("a binding that the watch has not shown yet is not made again")
{
    Gang gang = gang_of(waiting_pod(), JobState::running);
    gang.assumed_bound["uid-web"] = {};

    expect<Wait>(gang);
}

TEST_CASE("while Pods live on their allocation, nothing is done")
{
    for (JobState state : allocated_states) {
        expect<Wait>(gang_of(bound_pod(), state));
        expect<Wait>(gang_of(with_deletion(bound_pod()), state));
    }
}

TEST_CASE("Pods that ended by themselves complete the job as they ended")
{
    for (JobState state : allocated_states) {
        Gang good = gang_of(with_end(bound_pod(), "Succeeded"), state);
        CHECK(expect<Complete>(good).status == 0);

        Pod failed = with_end(bound_pod(), "Failed");
        failed.containers = {{"c", true, 7, 0, "Error"}};
        Complete complete = expect<Complete>(gang_of(failed, state));
        CHECK(complete.status == 7 << 8);
        CHECK(complete.reason == "");
        CHECK(complete.job == good.job->ref);
    }
}

TEST_CASE("a job whose devices others use outlives its Pods")
{
    for (JobState state : allocated_states) {
        for (Gang gang :
             {gang_of(with_end(bound_pod(), "Succeeded"), state),
              gang_of(with_end(bound_pod(), "Failed"), state),
              gang_of(with_deletion(with_end(bound_pod(), "Failed")), state),
              gang_without_pods(state)}) {
            gang.claims.counts_for = "next";
            expect<Wait>(gang);
            gang.claims.counts_for.clear();
            CHECK_FALSE(is_kind<Wait>(decide(gang, kn1)));
        }
    }
    Gang ended = gang_of(with_end(bound_pod(), "Failed"), JobState::timeout);
    ended.claims.counts_for = "next";
    ended.epilog_held = true;
    expect<Clean>(ended); // Slurm has decided
}

TEST_CASE("Pods whose devices no job counts any more end with a reason")
{
    for (JobState state : allocated_states) {
        Gang gang = gang_of(bound_pod(), state);
        gang.claims.uncounted_reason = "job 3 is TIMEOUT";
        CHECK(expect<Cancel>(gang).reason == "job 3 is TIMEOUT");
        CHECK(expect<Cancel>(gang).job == gang.job->ref);
    }
    Gang waits = gang_of(waiting_pod(), JobState::configuring);
    waits.claims.uncounted_reason = "job 3 is TIMEOUT";
    CHECK(expect<Renew>(waits).reason == "job 3 is TIMEOUT");
    Gang over = gang_of(with_end(bound_pod(), "Succeeded"), JobState::running);
    over.claims.uncounted_reason = "job 3 is TIMEOUT";
    CHECK(expect<Complete>(over).status == 0);
}

TEST_CASE("Pods that are gone, or that a user ended, cancel the job")
{
    for (JobState state : allocated_states) {
        expect<Cancel>(gang_without_pods(state));
        expect<Cancel>(
            gang_of(with_deletion(with_end(bound_pod(), "Succeeded")), state));
        expect<Cancel>(
            gang_of(with_deletion(with_end(bound_pod(), "Failed")), state));
    }
}

TEST_CASE(
    "a Pod that a disruption ended fails its job, whatever it exited with")
{
    for (const char *phase : {"Succeeded", "Failed"}) {
        Pod pod = with_deletion(with_end(bound_pod(), phase));
        pod.disruption = "EvictionByEvictionAPI";

        Complete complete = expect<Complete>(gang_of(pod, JobState::running));

        CHECK(complete.status == 1 << 8);
        CHECK(complete.reason == "EvictionByEvictionAPI");
    }
}

TEST_CASE("a Pod that is being deleted on a lost Node does not hold its job")
{
    for (JobState state : allocated_states) {
        Gang gang = gang_of(with_deletion(bound_pod()), state);
        gang.lost_node_reason = "the Node kn1 is not ready";

        Complete complete = expect<Complete>(gang);

        CHECK(complete.status == 1 << 8);
        CHECK(complete.reason == "NodeLost: the Node kn1 is not ready");
    }
    Gang lives = gang_of(bound_pod(), JobState::running);
    lives.lost_node_reason = "the Node kn1 is not ready";
    expect<Wait>(lives); // nobody wants it gone

    Gang ended = gang_of(with_deletion(bound_pod()), JobState::failed);
    ended.lost_node_reason = "the Node kn1 is not ready";
    ended.epilog_held = true;
    expect<Wait>(ended); // nobody knows that its containers are gone
}

// It never had a container; a finalizer may keep the object for ever.
TEST_CASE("an allocation for an unbound Pod that is being deleted is cancelled")
{
    for (JobState state : allocated_states)
        for (bool held : {false, true}) {
            Gang gang = gang_of(with_deletion(waiting_pod()), state);
            gang.prolog_held = held;

            expect<Cancel>(gang);
        }
    Gang assumed = gang_of(with_deletion(waiting_pod()), JobState::configuring);
    assumed.assumed_bound["uid-web"] = {};
    expect<Wait>(assumed);
}

TEST_CASE("a job that is suspended is resumed, and cancelled the second time")
{
    Gang gang = gang_of(waiting_pod(), JobState::suspended);
    gang.prolog_held = true;

    expect<ResumeJob>(gang);
    expect<ResumeJob>(gang_of(bound_pod(), JobState::suspended));
    gang = gang_of(bound_pod(), JobState::suspended);
    gang.job->resumed = true;
    CHECK_FALSE(expect<Cancel>(gang).reason.empty());
    gang.job->state = JobState::running; // it was resumed
    expect<Wait>(gang);
}

TEST_CASE("what ends later than its grace allows is told again")
{
    auto ended = [](Pod pod) {
        Gang gang = gang_of(std::move(pod), JobState::timeout);
        gang.grace.longest = std::chrono::seconds(30);
        return gang;
    };
    Pod slow = bound_pod();
    slow.grace_period = std::chrono::seconds(600);
    Pod expired = slow;
    expired.active_deadline = 1; // perhaps by its user
    Pod deleted = with_deletion(slow);
    deleted.deletion_grace = std::chrono::seconds(31);

    expect<EndPods>(ended(slow));
    expect<EndPods>(ended(expired));
    expect<EndPods>(ended(deleted));
    deleted.deletion_grace = std::chrono::seconds(30);
    expect<Wait>(ended(deleted));
    expired.grace_period = std::chrono::seconds(30);
    expect<Wait>(ended(expired));
}

TEST_CASE("a suspended job whose Pods are over ends as any other")
{
    expect<Complete>(
        gang_of(with_end(bound_pod(), "Succeeded"), JobState::suspended));
    expect<Cancel>(gang_without_pods(JobState::suspended));
}

TEST_CASE("when the job has ended, Pods that live are ended")
{
    for (JobState state : ended_states) {
        CAPTURE(state_name(state));
        if (state == JobState::node_fail)
            continue;
        Gang gang = gang_of(bound_pod(), state);
        gang.epilog_held = true;

        EndPods end = expect<EndPods>(gang);

        CHECK(end.job == gang.job->ref);
        CHECK(end.state == state);
    }
    Gang assumed = gang_of(waiting_pod(), JobState::cancelled);
    assumed.assumed_bound["uid-web"] = {};
    expect<EndPods>(assumed);
}

// A slurmctld that forgot its nodes says so of every job.
TEST_CASE("when the node is said to fail, Pods that live get a new job")
{
    Gang gang = gang_of(bound_pod(), JobState::node_fail);
    gang.epilog_held = true;

    CHECK(expect<Adopt>(gang).node == "kn1");
    expect<Wait>(gang_of(with_deletion(bound_pod()), JobState::node_fail));
}

TEST_CASE("when the node did fail, Pods that live are ended")
{
    Gang down = gang_of(bound_pod(), JobState::node_fail);
    down.node_down = true;
    expect<EndPods>(down);

    Gang lost = gang_of(bound_pod(), JobState::node_fail);
    lost.lost_node_reason = "the Node kn1 is gone";
    expect<EndPods>(lost);
}

TEST_CASE("Pods that were told to end get their time, and are then deleted")
{
    Pod told = bound_pod();
    told.active_deadline = 1;
    Gang gang = gang_of(told, JobState::timeout);
    expect<Wait>(gang);

    gang.grace.end_overdue = true;
    CHECK(expect<EndPods>(gang).insist);

    gang.pods = {share(with_deletion(told))};
    expect<Wait>(gang);
}

TEST_CASE("the epilog is held while Pods that were told to end still live")
{
    Gang gang = gang_of(with_deletion(bound_pod()), JobState::cancelled);
    gang.epilog_held = true;

    expect<Wait>(gang);
}

TEST_CASE("the epilog is let go when no container can be alive")
{
    for (JobState state : ended_states) {
        Gang gone = gang_without_pods(state);
        gone.epilog_held = true;
        CHECK(expect<Clean>(gone).job == gone.job->ref);

        Gang over = gang_of(with_end(bound_pod(), "Failed"), state);
        over.epilog_held = true;
        expect<Clean>(over);

        Gang never = gang_of(waiting_pod(), state);
        never.epilog_held = true;
        expect<Clean>(never);
    }
}

TEST_CASE("a Pod whose job ended before it was bound fails with it")
{
    FailPods fail =
        expect<FailPods>(gang_of(waiting_pod(), JobState::cancelled));

    CHECK(fail.job == make_job(7, JobState::cancelled).ref);
    CHECK(fail.state == JobState::cancelled);
    expect<FailPods>(gang_of(waiting_pod(), JobState::deadline));
}

// Neither says that somebody did not want the Pod to run.
TEST_CASE("a Pod whose job was lost to a failure or to another gets a new one")
{
    for (JobState state : {JobState::node_fail, JobState::preempted,
                           JobState::boot_fail, JobState::timeout}) {
        CAPTURE(state_name(state));
        Gang gang = gang_of(waiting_pod(), state);
        gang.job->tag.generation = 4;

        Renew renew = expect<Renew>(gang);

        CHECK(renew.generation == 5);
        gang.least_generation = 5;
        expect<Submit>(gang);
    }
}

TEST_CASE("an allocation onto which the Pods cannot be bound is given back")
{
    Gang gang = gang_of(waiting_pod(), JobState::configuring);
    gang.bind_overdue = true;

    expect<Renew>(gang);
}

TEST_CASE("the end of one job says nothing about Pods that another bound")
{
    Gang gang = gang_of(
        with_binding(waiting_pod(), make_job(8, JobState::running), "node-1"),
        JobState::cancelled);
    expect<Adopt>(gang);

    gang.epilog_held = true;
    expect<Clean>(gang);
}

TEST_CASE("a Pod that somebody else put onto a node is not this job's")
{
    Pod elsewhere =
        with_binding(waiting_pod(), make_job(8, JobState::running), "node-9");
    Gang gang = gang_of(elsewhere, JobState::configuring);
    gang.prolog_held = true;

    Cancel cancel = expect<Cancel>(gang);

    CHECK(cancel.job == make_job(7, JobState::configuring).ref);
}

TEST_CASE("the record of a job that was refused does not fail its Pod")
{
    expect<Renew>(gang_of(waiting_pod(), JobState::failed));
}

TEST_CASE("a job that we replaced ourselves is followed by the next one")
{
    Gang by_pod = gang_of(waiting_pod(), JobState::cancelled);
    Pod raised = waiting_pod();
    raised.annotations[names::generation_annotation] = "1";
    by_pod.pods = {share(raised)};
    Gang by_us = gang_of(waiting_pod(), JobState::cancelled);
    by_us.least_generation = 1;

    expect<Submit>(by_pod);
    expect<Submit>(by_us);

    by_us.job->tag.generation = 1; // now a user cancelled the new one
    expect<FailPods>(by_us);
}

TEST_CASE("the uncertain submit of a job's successor is searched for, too")
{
    Gang gang = gang_of(waiting_pod(), JobState::cancelled);
    gang.least_generation = 1;
    gang.submit_uncertain = true;

    expect<Find>(gang);
}

TEST_CASE("an ended job whose Pods are over is forgotten")
{
    for (JobState state : ended_states) {
        expect<Forget>(gang_without_pods(state));
        expect<Forget>(gang_of(with_end(bound_pod(), "Succeeded"), state));
        expect<Forget>(gang_of(with_end(waiting_pod(), "Failed"), state));
    }
    expect<Wait>(gang_of(with_deletion(waiting_pod()), JobState::cancelled));
}

TEST_CASE("nothing is concluded from a job state that we do not know")
{
    for (const Pod &pod :
         {waiting_pod(), bound_pod(), with_end(bound_pod(), "Succeeded"),
          with_deletion(bound_pod())})
        expect<Wait>(gang_of(pod, JobState::unknown));
    expect<Wait>(gang_without_pods(JobState::unknown));
}

TEST_CASE("no container is ever ended on anything but a positive end of its "
          "job")
{
    for (JobState state :
         {JobState::pending, JobState::configuring, JobState::running,
          JobState::suspended, JobState::unknown})
        for (bool stale : {false, true})
            for (bool held : {false, true}) {
                Gang gang = gang_of(bound_pod(), state);
                gang.stale = stale;
                gang.prolog_held = gang.epilog_held = held;
                Decision action = decide(gang, {});
                CAPTURE(state_name(state));
                CHECK_FALSE(is_kind<EndPods>(action));
                CHECK_FALSE(is_kind<FailPods>(action));
                CHECK_FALSE(is_kind<Renew>(action));
            }
}

TEST_CASE("every action has a name of its own")
{
    CHECK(std::string(decision_name(Wait{})) == "wait");
    CHECK(std::string(decision_name(Submit{})) == "submit");
    CHECK(std::string(decision_name(Adopt{})) == "adopt");
    CHECK(std::string(decision_name(Restamp{})) == "restamp");
    CHECK(std::string(decision_name(EndPods{})) == "end_pods");
    CHECK(std::string(decision_name(FailPods{})) == "fail_pods");
    CHECK(std::string(decision_name(Clean{})) == "clean");
    CHECK(std::string(decision_name(Split{})) == "split");
    CHECK(std::string(decision_name(ResumeJob{})) == "resume_job");
    CHECK(std::string(action_name(Look{})) == "look");
}
