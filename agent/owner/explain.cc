// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/explain.h"

#include "agent/decide/messages.h"
#include "agent/decide/too_large.h"
#include "common/slurm/reasons.h"

#include <format>
#include <map>

namespace bridge {

namespace {

// Returns "" for an unknown time.
std::string time_text(std::chrono::sys_seconds time)
{
    if (time.time_since_epoch().count() <= 0)
        return {};
    return std::format("{:%FT%TZ}", time);
}

// Describes an action, to follow "it is about to" or "it tries again to".
std::string action_message(const std::string &action)
{
    static const std::map<std::string, const char *> words = {
        {"submit", "ask Slurm for a job"},
        {"find", "look for a job whose submit was not answered"},
        {"refuse", "report on the Pod why no job is requested"},
        {"look", "read the job from Slurm"},
        {"bind", "bind the Pod to its node"},
        {"start", "let the job start: its Pods are on their nodes"},
        {"complete", "complete the job with the Pod's exit code"},
        {"cancel", "cancel the job"},
        {"renew", "replace the job by a new one"},
        {"look_volumes", "read the claims of the Pod's volumes"},
        {"bind_volumes", "have the Pod's volumes bound on its node"},
        {"adopt", "ask Slurm for a new job for the running Pod, on its node"},
        {"restamp", "write the new job onto the running Pod"},
        {"resume_job", "resume the job, which was suspended"},
        {"remake", "make its Pods anew, for the other nodes of their job"},
        {"release_claims", "give back devices of an earlier job"},
        {"split", "give each Pod a job of its own, as theirs is lost"},
        {"end_pods", "end the Pod, whose job has ended"},
        {"fail_pods", "fail the Pod, whose job was ended on purpose"},
        {"clean", "tell slurmctld that the last container is gone"},
        {"forget", "forget the Pod, which is over"}};
    auto known = words.find(action);
    return known == words.end() ? action : known->second;
}

// Reasons may be clauses or sentences.
std::string sentence(const std::string &reason)
{
    return reason.ends_with('.') ? reason : reason + ".";
}

std::string join(const std::vector<std::string> &names)
{
    std::string text;
    for (const std::string &name : names)
        text += (text.empty() ? "" : ",") + name;
    return text;
}

std::string blocker_message(const Blocker &blocker)
{
    std::string job = blocker.job == 0 ? "a job that Slurm has lost"
                                       : "job " + std::to_string(blocker.job);
    return std::format("the containers of {} ({}) on node {}", job,
                       blocker.gang, blocker.node);
}

std::string blockers_message(const Story &story)
{
    std::string text;
    for (const Blocker &blocker : story.blockers)
        text += (text.empty() ? "" : " and ") + blocker_message(blocker);
    return text;
}

const Pod *first_pod(const Gang &gang)
{
    return gang.pods.empty() ? nullptr : &lead_of(gang);
}

bool lives(const Gang &gang)
{
    const Pod *pod = first_pod(gang);
    return pod && pod->bound() && !pod->terminal();
}

std::string without_job(const Story &story)
{
    const Pod *pod = first_pod(story.gang);
    const std::string name = story.gang.key.str();
    if (!pod)
        return std::format("{} has neither a Pod nor a job.", name);
    if (pod->terminal())
        return std::format("Pod {} has ended: {}.", name, pod->phase);
    if (pod->bound())
        return std::format("Pod {} is on node {} without a job that Slurm "
                           "knows; it gets a new one unless somebody "
                           "else put it there.",
                           name, pod->node_name);
    if (pod->deleting)
        return std::format("Pod {} is being deleted.", name);
    if (pod->gated)
        return std::format("Pod {} has scheduling gates, and is not scheduled "
                           "before they are removed.",
                           name);
    if (!story.said.empty())
        return std::format("Pod {} waits: {}", name, story.said);
    if (!story.reason.empty())
        return std::format("Pod {} waits: {}", name, sentence(story.reason));
    return std::format("Pod {} has no Slurm job yet.", name);
}

std::string allocated(const Story &story, const Job &job)
{
    const std::string name = story.gang.key.str();
    const Pod *pod = first_pod(story.gang);
    if (!pod)
        return std::format("Slurm job {} is {}, and its Pod {} is gone.",
                           job.ref.id, state_name(job.state), name);
    if (pod->terminal())
        return std::format("Pod {} has ended ({}); Slurm job {} follows.", name,
                           pod->phase, job.ref.id);
    if (!pod->bound())
        return std::format(
            "Slurm job {} has {}, and Pod {} is to be bound "
            "there{}.",
            job.ref.id, job.nodes.empty() ? "its nodes" : join(job.nodes), name,
            story.blockers.empty()
                ? ""
                : ", where " + blockers_message(story) + " have yet to stop");
    return std::format("Pod {} is on node {} by Slurm job {}, which is {}.",
                       name, pod->node_name, job.ref.id, state_name(job.state));
}

std::string summary(const Story &story, const Job *job)
{
    const std::string name = story.gang.key.str();
    if (!job)
        return without_job(story);
    if (is_allocated(job->state))
        return allocated(story, *job);
    if (job->state == JobState::pending)
        return std::format("Pod {} waits: Slurm job {} is PENDING{}.", name,
                           job->ref.id,
                           job->reason.empty() ? "" : ", " + job->reason);
    if (!is_ended(job->state))
        return std::format("Slurm job {} of Pod {} is in a state that the "
                           "agent does not know and therefore ignores.",
                           job->ref.id, name);
    return std::format("Slurm job {} of Pod {} has ended: {}.{}", job->ref.id,
                       name, state_name(job->state),
                       lives(story.gang) ? " Its containers are still there."
                                         : "");
}

std::string stopping(const Story &story, const Job &job)
{
    if (!story.ending)
        return "It waits for the containers to stop.";
    const auto &[since, grace] = *story.ending;
    return std::format(
        "It has waited since {} for the containers to stop. They are killed {} "
        "s after that, at {}, if they have not stopped before. When they are "
        "gone, Slurm job {} leaves COMPLETING, and other jobs get what they "
        "use.",
        time_text(since), grace.count(), time_text(since + grace), job.ref.id);
}

// Says what a Wait means in the present state of the job.
std::string waiting_for(const Story &story, const Job *job)
{
    const Pod *pod = first_pod(story.gang);
    if (!story.reason.empty())
        return "It waits: " + sentence(story.reason);
    if (pod && !job && pod->gated)
        return "It waits for the scheduling gates to be removed.";
    if (job && job->state == JobState::pending)
        return "It waits for Slurm to allocate the job.";
    if (job && is_allocated(job->state))
        return "It waits for the Pod to end.";
    if (lives(story.gang) && job && is_ended(job->state))
        return stopping(story, *job);
    return "It does nothing until something changes.";
}

std::string agent_message(const Story &story, const Job *job)
{
    if (!story.serving)
        return "It has not read all of Slurm's and Kubernetes' lists yet, and "
               "does nothing before: see slurmk8s status.";
    if (!story.doing.empty())
        return "At this moment: " + action_message(story.doing) + ".";
    if (story.held_for.count() > 0)
        return std::format("It waits {} s, then tries again to {}.",
                           story.held_for.count(), action_message(story.next));
    if (!story.blockers.empty())
        return "It waits for " + blockers_message(story) + " to stop.";
    if (story.in_line)
        return "It asks Slurm for a job when it is the Pod's turn: those of "
               "the namespace with the fewest Pods in Slurm's queue come "
               "first, and then the oldest.";
    if (story.next == "wait" || story.next.empty())
        return waiting_for(story, job);
    return "It is about to " + action_message(story.next) + ".";
}

std::string with_job_id(std::string text, JobId id)
{
    constexpr std::string_view place = "JOBID";
    // "Format=JobID" is spelled differently, so this is our placeholder.
    if (auto at = text.find(place); at != text.npos)
        text.replace(at, place.size(), std::to_string(id));
    return text;
}

std::string remedy(const Story &story, const Job *job)
{
    const Pod *pod = first_pod(story.gang);
    if (job && job->state == JobState::pending)
        return with_job_id(explain_reason(job->reason).remedy, job->ref.id);
    if (!story.blockers.empty())
        return "Those containers end within their grace period; if their Node "
               "does not answer, repair it.";
    if (job && is_allocated(job->state) && !story.last_failure.empty())
        return "The agent tries again; see the last failure.";
    if (job || !pod || pod->bound() || pod->terminal() || pod->deleting)
        return {};
    if (pod->gated)
        return "Whoever set the scheduling gates has to remove them.";
    if (story.in_line)
        return "Wait for its turn, or delete Pods of its namespace that wait "
               "in Slurm and are held; an administrator can raise the limit.";
    if (is_too_large(story.said))
        return "Delete the Pod and create it again with less, or label a "
               "larger Kubernetes Node: the Pod then starts by itself.";
    if (std::string command = name_user_command(story.gang.key.ns);
        story.said.contains(command))
        return "An administrator: " + command +
               ", or DefaultUser=USER in k8s.conf.";
    if (!story.said.empty())
        return "Change what that names: the Pod (delete it and create it "
               "again), its Namespace, or Slurm.";
    return {};
}

JsonValue describe_pod(const Pod &pod)
{
    JsonValue asks =
        JsonValue::object({{"cpuMilli", pod.requests.cpu.value},
                           {"memoryBytes", pod.requests.memory.value}});
    for (const auto &[name, amount] : pod.requests.others)
        asks.add(name, amount);
    JsonValue json = JsonValue::object({{"namespace", pod.key.ns},
                                        {"name", pod.key.name},
                                        {"uid", pod.uid},
                                        {"phase", pod.phase},
                                        {"node", pod.node_name},
                                        {"asks", std::move(asks)},
                                        {"gated", pod.gated},
                                        {"deleting", pod.deleting},
                                        {"condition", pod.scheduled.message}});
    if (!pod.owner.kind.empty())
        json.add("owner", pod.owner.kind + " " + pod.owner.name);
    return json;
}

JsonValue describe_job(const Job &job)
{
    JsonValue json = JsonValue::object({{"jobId", job.ref.id},
                                        {"sluid", job.ref.sluid.str()},
                                        {"state", state_name(job.state)},
                                        {"generation", job.tag.generation},
                                        {"nodes", join(job.nodes)}});
    if (job.state == JobState::pending && !job.reason.empty())
        json.add("reason", job.reason)
            .add("reasonMeaning", explain_reason(job.reason).meaning)
            .add("expectedStart", time_text(job.expected_start));
    return json;
}

void add_details(JsonValue &json, const JobDetails &details)
{
    json.add("reasonDetails", details.reason_details)
        .add("user", details.user)
        .add("account", details.account)
        .add("partition", details.partition)
        .add("qos", details.qos)
        .add("reservation", details.reservation)
        .add("asked", details.requested)
        .add("allocated", details.allocated)
        .add("features", details.features)
        .add("submitted", time_text(details.submitted))
        .add("started", time_text(details.started))
        .add("ended", time_text(details.ended));
    if (details.time_limit)
        json.add("timeLimitMinutes", *details.time_limit);
}

JsonValue describe_agent(const Story &story, const Job *job)
{
    JsonValue::Array blockers;
    for (const Blocker &blocker : story.blockers)
        blockers.push_back(JsonValue::object({{"node", blocker.node},
                                              {"gang", blocker.gang},
                                              {"jobId", blocker.job}}));
    return JsonValue::object({{"now", agent_message(story, job)},
                              {"serving", story.serving},
                              {"doing", story.doing},
                              {"next", story.next},
                              {"heldForSeconds", story.held_for.count()},
                              {"failures", story.failures},
                              {"lastFailure", story.last_failure},
                              {"said", story.said},
                              {"blockers", JsonValue::array(blockers)}});
}

} // namespace

JsonValue explain(const Story &story, const std::optional<JobDetails> &details)
{
    const Gang &gang = story.gang;
    bool same = details && gang.job && details->job.ref == gang.job->ref;
    const Job *job = same ? &details->job : gang.job ? &*gang.job : nullptr;
    JsonValue::Array pods;
    for (const PodPtr &pod : gang.pods)
        pods.push_back(describe_pod(*pod));
    JsonValue json =
        JsonValue::object({{"gang", gang.key.str()},
                           {"summary", summary(story, job)},
                           {"remedy", remedy(story, job)},
                           {"agent", describe_agent(story, job)},
                           {"pods", JsonValue::array(std::move(pods))}});
    if (job) {
        JsonValue described = describe_job(*job);
        if (same)
            add_details(described, *details);
        json.add("job", std::move(described));
    }
    return json;
}

JsonValue explain_past(const JobDetails &details)
{
    const Job &job = details.job;
    JsonValue described = describe_job(job);
    add_details(described, details);
    return JsonValue::object(
        {{"gang", job.tag.gang},
         {"summary",
          std::format("Slurm job {} was made for Pod {} and is {}; the agent "
                      "does nothing for it any more.",
                      job.ref.id, job.tag.gang, state_name(job.state))},
         {"remedy", ""},
         {"pods", JsonValue::array({})},
         {"job", std::move(described)}});
}

} // namespace bridge
