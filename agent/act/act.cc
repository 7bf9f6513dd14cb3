// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act/act.h"

#include "agent/act/bind.h"
#include "agent/act/claims.h"
#include "agent/act/end.h"
#include "agent/act/extended.h"
#include "agent/act/gang.h"
#include "agent/act/remake.h"
#include "agent/decide/gang_shapes.h"
#include "agent/decide/job_requests.h"
#include "agent/decide/translate.h"
#include "agent/gang/batch_place.h"
#include "agent/objects/gang_key.h"
#include "common/contract/names.h"
#include "common/slurm/het_job.h"

#include <algorithm>
#include <chrono>

namespace bridge {

namespace {

// Whether the accounting database records that somebody, or a limit, ended the
// job. It also calls jobs that a crash lost COMPLETED once an administrator has
// cleaned up (sacctmgr show runaway), so COMPLETED does not count.
bool is_purposeful(JobState state)
{
    return state == JobState::cancelled || state == JobState::timeout ||
           state == JobState::preempted || state == JobState::deadline;
}

bool waits_by_wish(const JobDescription &job)
{
    return job.priority == 0u || !job.dependency.empty() ||
           job.begin > std::chrono::system_clock::now();
}

struct Actor {
    const Gang &gang;
    const ActContext &context;

    Slurm &slurm() const { return context.slurm; }
    Kube &kube() const { return context.kube; }

    Result<Outcome> operator()(const Submit &) const
    {
        auto asking = with_owners_wishes();
        if (!asking)
            return std::unexpected(asking.error());
        const Pod &first = lead_of(*asking);
        Wishes wishes = wishes_in(first.annotations);
        if (std::string reason = unfit_reason(*asking); !reason.empty())
            return fail(Code::rejected, reason);
        auto identity = identify(context.ns, first, *context.conf);
        if (!identity)
            return std::unexpected(identity.error());
        // The partition in k8s.conf is an administrator's choice and is not
        // checked.
        if (auto may = slurm().check_partitions(value_of(wishes, "partition"));
            !may)
            return std::unexpected(may.error());
        auto said = submit(describe_components(
            *asking, describe_job(*asking, *identity, *context.conf),
            *context.conf));
        if (!said && said.error().code == Code::rejected && !wishes.empty())
            return fail(Code::rejected, said.error().message + " (requested: " +
                                            wishes_text(wishes) + ")");
        return said;
    }

    Result<Outcome> operator()(const Look &look) const
    {
        auto job = slurm().load(look.job);
        if (!job)
            return std::unexpected(job.error());
        if (is_told_of_others(gang, *job))
            return remove_tag(gang, *job, slurm());
        Looked looked{std::move(*job)};
        if (looked.job.state == JobState::node_fail) {
            auto nodes = slurm().load_nodes();
            if (!nodes)
                return std::unexpected(nodes.error());
            looked.node_down = std::ranges::any_of(
                *nodes, [&](const SlurmNode &n) { return n.down && holds(n); });
        }
        return looked;
    }

    // The job may be lost, but it may also have ended long ago, on purpose.
    Result<Outcome> operator()(const Adopt &adopt) const
    {
        bool lost = std::ranges::none_of(gang.pods, [&](const PodPtr &pod) {
            return lives_by_job(gang, *pod);
        });
        if (lost) {
            auto known = find_binder();
            if (!known)
                return std::unexpected(known.error());
            if (*known)
                return Looked{std::move(**known)};
        }
        auto asking = with_owners_wishes();
        if (!asking)
            return std::unexpected(asking.error());
        auto identity =
            identify(context.ns, *asking->pods.front(), *context.conf);
        if (!identity)
            return std::unexpected(identity.error());
        auto now = std::chrono::floor<std::chrono::seconds>(
            std::chrono::system_clock::now());
        return submit(
            {describe_adoption(*asking, *identity, *context.conf, adopt, now)});
    }

    Result<Outcome> operator()(const Restamp &restamp) const
    {
        for (const PodPtr &pod : gang.pods)
            if (pod->living())
                if (auto said = kube().stamp(
                        *pod, binding_labels(*gang.job),
                        binding_annotations(*gang.job, restamp.node));
                    !said)
                    return std::unexpected(said.error());
        return Done{};
    }

    Result<Outcome> operator()(const LookVolumes &) const
    {
        auto facts = kube().read_volumes(with_all_claims(gang));
        if (!facts)
            return std::unexpected(facts.error());
        return VolumesSeen{volume_needs(gang, *facts), claim_names(gang)};
    }

    // Repeated until the controllers have bound the volumes.
    Result<Outcome> operator()(const BindVolumes &bind) const
    {
        auto facts = kube().read_volumes(with_all_claims(gang));
        if (!facts)
            return std::unexpected(facts.error());
        VolumesSeen seen{volume_needs(gang, *facts), claim_names(gang)};
        if (!seen.needs.reason.empty() || !seen.needs.unbound)
            return seen;
        auto steps = claim_steps(gang, bind.seats, *facts, context.nodes);
        if (!steps)
            seen.needs.misfit = steps.error().message;
        else if (auto done = carry_out(*steps, *facts); !done)
            return std::unexpected(done.error());
        return seen;
    }

    Result<Outcome> operator()(const Bind &bind) const
    {
        if (auto placed = check_placed(gang, context); !placed)
            return std::unexpected(placed.error());
        if (gang.grouped) {
            if (auto bound = bind_seats(gang, bind, kube()); !bound)
                return std::unexpected(bound.error());
            return Done{};
        }
        if (!bind.claims.empty()) { // before its kubelet looks for them
            auto ready = prepare_claims(*gang.pods.front(), bind.claims,
                                        bind.nodes.front(), kube());
            if (!ready || !std::holds_alternative<Done>(*ready))
                return ready;
        }
        for (std::size_t i = 0; i < gang.pods.size(); i++) {
            const Pod &pod = *gang.pods[i];
            if (pod.bound())
                continue;
            Binding binding{
                bind.nodes[i], binding_labels(*gang.job),
                binding_annotations(*gang.job, gang.job->nodes.front())};
            if (auto bound = bind_pod(pod, std::move(binding), kube()); !bound)
                return std::unexpected(bound.error());
        }
        return Done{};
    }

    Result<Outcome> operator()(const ReleaseClaims &release) const
    {
        for (const PodPtr &known : gang.pods) {
            std::vector<ClaimHold> holds = release.claims;
            std::erase_if(holds, [&](const ClaimHold &hold) {
                return hold.pod != known->uid;
            });
            if (holds.empty())
                continue;
            if (auto unbound = check_unbound(*known, kube()); !unbound)
                return std::unexpected(unbound.error());
            if (auto done = release_claims(*known, holds, kube()); !done)
                return std::unexpected(done.error());
        }
        return Done{};
    }

    Result<Outcome> operator()(const Remake &) const
    {
        return delete_workers(gang, slurm(), kube());
    }

    Result<Outcome> operator()(const Complete &complete) const
    {
        // libslurm waits while slurmctld starts: the job may then be one that
        // slurmctld has yet to allocate again, which gets no exit code.
        if (context.slurmctld_left())
            return fail(Code::busy,
                        "slurmctld went away: the job will be read again");
        return unless_there([&] {
            // The comment is only for people: an error is ignored.
            if (!complete.reason.empty())
                (void)slurm().set_comment(complete.job, complete.reason);
            return end(slurm().complete(complete.job, complete.status));
        });
    }

    Result<Outcome> operator()(const Cancel &cancel) const
    {
        return unless_there([&] {
            // The comment is only for people: an error is ignored.
            if (!cancel.reason.empty())
                (void)slurm().set_comment(cancel.job, cancel.reason);
            return end(cancel_all(cancel.job));
        });
    }

    Result<Outcome> operator()(const ResumeJob &) const
    {
        if (auto done = resume_components(*gang.job); !done)
            return std::unexpected(done.error());
        return Done{};
    }

    // Raises the generation first: if the agent is killed in between, its
    // successor knows that the cancel was the agent's, not the user's.
    Result<Outcome> operator()(const Renew &renew) const
    {
        for (const PodPtr &pod : gang.pods) {
            if (gang.grouped && pod->terminal())
                continue;
            auto raised = kube().stamp(*pod, {},
                                       {{names::generation_annotation,
                                         std::to_string(renew.generation)}});
            bool gone = gang.grouped && !raised &&
                        raised.error().code == Code::not_found;
            if (!raised && !gone)
                return std::unexpected(raised.error());
        }
        if (is_ended(gang.job->state)) // its exit code must not be changed
            return Done{};
        return end(slurm().cancel(renew.job));
    }

    Result<Outcome> operator()(const EndPods &ending) const
    {
        return end_pods(gang, ending, kube());
    }

    Result<Outcome> operator()(const FailPods &failing) const
    {
        for (const PodPtr &pod : gang.pods)
            if (!pod->bound() && !pod->terminal())
                if (auto gone = remove_extended(*pod, kube()); !gone)
                    return std::unexpected(gone.error());
        return fail_pods(gang, failing, kube());
    }

    template <class EndJob>
    Result<Outcome> unless_there(const EndJob &end_job) const
    {
        auto there = unlisted();
        if (!there)
            return std::unexpected(there.error());
        if (*there)
            return StillThere{std::move(**there)};
        return end_job();
    }

    // Returns the gang's Pod if the API server has it although no list shows
    // it. Only "not found" proves that there is none.
    Result<std::optional<Pod>> unlisted() const
    {
        if (!gang.unseen)
            return std::nullopt;
        if (gang.grouped)
            return find_member(gang, kube());
        auto pod = kube().get_pod(gang.key);
        if (!pod && pod.error().code != Code::not_found)
            return std::unexpected(pod.error());
        if (!pod || pod->uid != gang.uid)
            return std::nullopt;
        return std::move(*pod);
    }

    // Returns the gang with its Pods' owners' requests added to the Pods.
    Result<Gang> with_owners_wishes() const
    {
        Gang asking = gang;
        if (!context.owners)
            return asking;
        for (PodPtr &pod : asking.pods) {
            auto with = context.owners->with_wishes(*pod, kube(), Clock::now());
            if (!with)
                return std::unexpected(with.error());
            pod = std::make_shared<const Pod>(std::move(*with));
        }
        return asking;
    }

    // Submits one job, or the components of a heterogeneous one.
    Result<Outcome> submit(std::vector<JobDescription> wishes) const
    {
        bool het = wishes.size() > 1;
        auto ask = [&] {
            return het ? slurm().submit_het(wishes)
                       : slurm().submit(wishes.front());
        };
        const JobDescription &wish = wishes.front();
        auto job = ask();
        if (!job && job.error().code == Code::rejected &&
            !wish.prefer.empty()) {
            for (JobDescription &one : wishes)
                one.prefer.clear(); // the preference may be the only cause
            job = ask();
        }
        if (!job)
            return std::unexpected(job.error());
        if (!het) // only backfill starts heterogeneous jobs
            context.kick();
        std::uint32_t tasks = 0;
        for (const JobDescription &one : wishes)
            tasks += one.tasks;
        return Submitted{*job,
                         wish.tag,
                         wish.memory_per_node,
                         wish.memory_per_cpu,
                         wish.features,
                         tasks,
                         wish.cpus_per_task,
                         wish.gres_per_task,
                         waits_by_wish(wish)};
    }

    // Cancelling the leader cancels all components. slurmctld would change the
    // exit codes of ended components, so the leader is used only while it
    // lives.
    Result<> cancel_all(JobRef job) const
    {
        auto left = gang.job ? left_over(*gang.job) : std::vector<JobRef>{};
        if (left.empty() || left.front() == job)
            return slurm().cancel(job);
        for (JobRef one : left)
            if (auto done = slurm().cancel(one);
                !done && done.error().code != Code::not_found)
                return done;
        return {};
    }

    // Slurm may have suspended some of them only.
    Result<> resume_components(const Job &job) const
    {
        for (JobRef one : refs_of(job))
            if (component_of(job, one).state == JobState::suspended)
                if (auto done = slurm().resume_job(one); !done)
                    return done;
        return {};
    }

    Result<> carry_out(const std::vector<SeatClaim> &steps,
                       const VolumeFacts &facts) const
    {
        for (const auto &[step, node] : steps) {
            const Claim &claim = facts.claims.at(step.claim);
            auto done =
                step.volume.empty()
                    ? kube().select_node(claim, node->name)
                    : kube().give_volume(facts.volumes.at(step.volume), claim);
            if (!done)
                return done;
        }
        return {};
    }

    bool holds(const SlurmNode &node) const
    {
        return std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
            return pod->living() &&
                   pod->annotation(names::node_annotation) == node.name;
        });
    }

    // Returns the job that bound the Pods if it is known to live, or if it
    // ended in a way that its Pods must end too.
    Result<std::optional<Job>> find_binder() const
    {
        const Pod &pod = *gang.pods.front();
        JobRef ref = binder_of(pod).value_or(JobRef{});
        auto job = slurm().load(ref);
        // The Pod's gang was split: see Split.
        bool of_gang = job && names_gang(pod, job->tag.uid);
        // The job no longer names this worker: see Remake.
        bool without_pod = job && job->tag.uid.empty() &&
                           !job->tag.script.empty() && is_worker(pod);
        if ((of_gang || without_pod) && !is_ended(job->state))
            return std::nullopt;
        if (job && !job->tag.uid.empty() && job->tag.uid != gang.uid &&
            !of_gang)
            return fail(Code::rejected, "its label names another Pod's job");
        if (job)
            return *job;
        if (job.error().code != Code::not_found)
            return std::unexpected(job.error());
        auto state = slurm().recall(ref);
        if (!state && state.error().code != Code::not_found)
            return std::unexpected(state.error());
        if (!state || !is_purposeful(*state))
            return std::nullopt;
        Job ended;
        ended.ref = ref;
        ended.tag = {gang.key.str(), gang.uid, generation_of(pod)};
        ended.state = *state;
        return ended;
    }

    // A job that does not exist any more has ended.
    Result<Outcome> end(const Result<> &ended) const
    {
        if (!ended && ended.error().code != Code::not_found)
            return std::unexpected(ended.error());
        context.kick();
        return Done{};
    }
};

} // namespace

Result<Outcome> act(const Action &action, const Gang &gang,
                    const ActContext &context)
{
    return std::visit(Actor{gang, context}, action);
}

} // namespace bridge
