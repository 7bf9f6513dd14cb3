// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act.h"

#include "agent/translate.h"
#include "agent/words.h"

namespace bridge {

namespace {

struct Actor {
    const Gang &gang;
    const ActContext &context;

    Slurm &slurm() const { return context.slurm; }
    Kube &kube() const { return context.kube; }

    // These the owner thread carries out itself.
    Result<Outcome> operator()(const Wait &) const { return Done{}; }
    Result<Outcome> operator()(const Forget &) const { return Done{}; }
    Result<Outcome> operator()(const Refuse &) const { return Done{}; }
    Result<Outcome> operator()(const Start &) const { return Done{}; }
    Result<Outcome> operator()(const Clean &) const { return Done{}; }
    Result<Outcome> operator()(const Find &) const { return Done{}; }

    Result<Outcome> operator()(const Submit &) const
    {
        auto identity = identify(context.ns, *context.conf);
        if (!identity)
            return std::unexpected(identity.error());
        JobDescription wish = describe_job(gang, *identity, *context.conf);
        auto job = slurm().submit(wish);
        if (!job)
            return std::unexpected(job.error());
        context.kick();
        return Submitted{*job, wish.memory_per_node, wish.memory_per_cpu};
    }

    Result<Outcome> operator()(const Look &look) const
    {
        auto job = slurm().load(look.job);
        if (!job)
            return std::unexpected(job.error());
        return Looked{std::move(*job)};
    }

    Result<Outcome> operator()(const Bind &bind) const
    {
        for (std::size_t i = 0; i < gang.pods.size(); i++) {
            const Pod &pod = *gang.pods[i];
            if (pod.bound())
                continue;
            Binding binding{bind.nodes[i], binding_labels(*gang.job),
                            binding_annotations(*gang.job,
                                                gang.job->nodes.front())};
            if (auto bound = kube().bind(pod, binding); !bound)
                return std::unexpected(bound.error());
        }
        return Done{};
    }

    Result<Outcome> operator()(const Complete &complete) const
    {
        if (!complete.why.empty()) {
            // For people only: the state and the exit code say enough to go on.
            (void)slurm().set_comment(complete.job, complete.why);
        }
        return end(slurm().complete(complete.job, complete.status));
    }

    // A list may lack a Pod that is there; only "not found" is an answer.
    Result<Outcome> operator()(const Cancel &cancel) const
    {
        if (gang.unseen) {
            auto pod = kube().get_pod(gang.key);
            if (pod && pod->uid == gang.uid)
                return StillThere{std::move(*pod)};
            if (!pod && pod.error().code != Code::not_found)
                return std::unexpected(pod.error());
        }
        return end(slurm().cancel(cancel.job));
    }

    // The generation first: if we are killed in between, the cancel that a
    // successor sees is known as ours, not the user's.
    Result<Outcome> operator()(const Renew &renew) const
    {
        for (const PodPtr &pod : gang.pods)
            if (auto raised = kube().annotate(*pod,
                                              names::generation_annotation,
                                              std::to_string(renew.generation));
                !raised)
                return std::unexpected(raised.error());
        if (is_ended(gang.job->state)) // its exit code is not ours to change
            return Done{};
        return end(slurm().cancel(renew.job));
    }

    Result<Outcome> operator()(const EndPods &ending) const
    {
        PodEvent event{PodEvent::Type::warning, "SlurmJobEnded", "Ending",
                       job_ended_words(ending.job, ending.state)};
        for (const PodPtr &pod : gang.pods) {
            if (!lives_by_job(gang, *pod) || pod->deleting)
                continue;
            (void)kube().post_event(*pod, event);
            if (auto gone = kube().delete_pod(*pod); !gone)
                return std::unexpected(gone.error());
        }
        return Done{};
    }

    Result<Outcome> operator()(const FailPods &failing) const
    {
        std::string words = job_ended_words(failing.job, failing.state);
        std::string reason = failed_pod_reason(failing.state);
        for (const PodPtr &pod : gang.pods) {
            if (pod->terminal() || pod->deleting)
                continue;
            if (auto failed = kube().fail_pod(*pod, reason, words); !failed)
                return std::unexpected(failed.error());
            (void)kube().post_event(
                *pod,
                {PodEvent::Type::warning, reason, "Scheduling", words});
        }
        return Done{};
    }

    // A job that is gone is a job that has ended.
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
