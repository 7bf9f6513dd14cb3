// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/decide.h"

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/contract/worker_names.h"
#include "common/contract/worker_request.h"
#include "common/kube/text.h"
#include "common/slurm/node_state.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

namespace bridge {

namespace {

// Ends of reasons. Those of the second kind are read again, also by another
// process: keep them.
constexpr char gone[] = " is gone";
constexpr char gone_for_ever[] = " is gone for good";
constexpr char going[] = " is to be removed";
constexpr char going_for_ever[] = " is to be removed for good";
constexpr char not_started[] = " has not started it yet";
constexpr char set_word[] = "NodeSet ";
constexpr char pod_word[] = "Pod ";
constexpr char checking[] = "Checking";
constexpr char no_end[] = "9999-12-31T23:59:59Z"; // jobs without a time limit

// Anything else could be read as more than one feature.
bool is_feature(std::string_view text)
{
    return std::ranges::all_of(text, [](char c) {
        return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.' ||
               c == '/';
    });
}

// Why the node must take no jobs; "": it may.
std::string drain_wish(const WorkerPod &pod)
{
    auto because = [&](const char *what) {
        return names::worker_drain_mark + ("Pod " + pod.key.str()) + what;
    };
    if (pod.ending)
        return because(" is being deleted");
    if (pod.request.drain)
        return because(pod.for_good ? going_for_ever : going);
    if (pod.cordoned)
        return because(" is cordoned");
    return {};
}

bool is_busy(const SlurmNode &record, const std::optional<NodeJobs> &jobs)
{
    return has_jobs(record.state) || (jobs && jobs->count != 0);
}

// The conditions SlurmNodeState*. Those that the Pod has had become False.
void add_states(WorkerPlan &plan, const WorkerPod &pod, const SlurmNode *record)
{
    const std::string prefix = names::node_state_condition;
    for (const auto &[type, condition] : pod.conditions)
        if (type.starts_with(prefix))
            plan.conditions[type] = {"False", "SlurmNodeState", ""};
    if (!record)
        return;
    for (const std::string &word : node_state_words(record->state)) {
        bool explained = word == "Drain" || word == "Down" || word == "Fail";
        plan.conditions[prefix + word] = {"True", "SlurmNodeState",
                                          explained ? record->reason : ""};
    }
}

// Why slurmd of this Pod has no Slurm node. There: the record with the name
// that it would have, which is not its own.
std::string not_registered(const WorkerPod &pod, const SlurmNode *there)
{
    const std::string node = "node " + pod.slurm_node;
    if (pod.over)
        return "the Pod has ended";
    if (pod.addresses.empty())
        return "the Pod has no address yet";
    if (!there)
        return "slurmctld has no " + node + ": slurmd has not registered yet";
    return "slurmctld has " + node + " at " + there->address +
           ", not at an address of this Pod: slurmd of this Pod has not "
           "registered yet, or that of another Pod has this name";
}

// Whether a job that slurmctld starts on the node would reach slurmd of this
// Pod. There: the record of that name, own or not.
WorkerCondition registered(const WorkerPod &pod, const SlurmNode *own,
                           const SlurmNode *there)
{
    static constexpr std::array<std::array<const char *, 2>, 4> troubles{{
        {"InvalidReg", "slurmctld has not accepted what slurmd has registered"},
        {"NotResponding", "slurmd does not answer slurmctld"},
        {"Down", "the node is DOWN"},
        {"Unknown", "slurmctld has not heard of slurmd since it was started"},
    }};
    if (!own)
        return {"False", "NotRegistered", not_registered(pod, there)};
    auto words = node_state_words(own->state);
    for (const auto &[state, meaning] : troubles)
        if (std::ranges::contains(words, state))
            return {"False", state,
                    own->reason.empty() ? meaning
                                        : meaning + (": " + own->reason)};
    return {"True", "Registered",
            "slurmctld has the node at this Pod's address"};
}

// The answer to a request to drain the node. Without a node of the Pod, slurmd
// may register, and get a job, at any moment: what the kubelet has started
// shows a second later.
WorkerCondition drained(const WorkerPod &pod, const SlurmNode *record,
                        const WorkerFacts &facts)
{
    bool runs = pod.placed && !pod.over;
    if (runs && !record)
        return {"False", "NotRegistered",
                "slurmd may register at any moment; if it never does, delete "
                "the Pod"};
    if (runs && !record->drained && !record->down)
        return {"False", "Draining", "the node is being drained"};
    if (record && is_busy(*record, facts.jobs))
        return {"False", "JobsRunning", "jobs are running on the node"};
    if (!facts.fresh && !facts.confirmed)
        return {"False", checking, "the node's jobs are read once more"};
    std::string what =
        DrainAnswer{pod.uid, pod.request.number, facts.slurmctld, facts.read}
            .text();
    if (pod.over)
        return {"True", "Ended", what};
    return {"True", pod.placed ? "Drained" : "NotPlaced", what};
}

void add_answer(WorkerPlan &plan, const WorkerPod &pod, const SlurmNode *record,
                const WorkerFacts &facts)
{
    if (pod.request.drain) {
        WorkerCondition said = drained(pod, record, facts);
        plan.drained = said.status == "True";
        plan.needs_fresh = said.reason == checking;
        plan.conditions[names::worker_drained_condition] = std::move(said);
    } else if (pod.conditions.contains(names::worker_drained_condition)) {
        plan.conditions[names::worker_drained_condition] = {
            "False", "NotRequested", "nobody asks for the Pod's end"};
    }
}

// Whether the reason, one of ours, says wrongly whether the record is to go,
// too: that is read after the Pod's end.
bool is_misleading(const SlurmNode &record, const WorkerPod &pod)
{
    return record.drained && is_worker_reason(record.reason) &&
           gone_for_good(record).has_value() != pod.for_good;
}

void add_step(WorkerPlan &plan, const WorkerPod &pod, const SlurmNode &record)
{
    std::string wish = drain_wish(pod);
    if (pod.over && !record.down) {
        plan.step = WorkerStep::down;
        plan.reason = gone_reason(record, pod);
    } else if (!pod.over && !wish.empty() && !record.down &&
               (!record.drained || is_misleading(record, pod))) {
        plan.step = WorkerStep::drain;
        plan.reason = wish;
    } else if (!pod.over && wish.empty() && may_resume(record)) {
        plan.step = WorkerStep::resume;
    }
}

std::vector<std::string> words_of(const std::string &list)
{
    std::vector<std::string> words;
    std::string_view rest = list;
    while (!rest.empty()) {
        std::string_view word = next_part(rest, ',');
        while (word.starts_with(' '))
            word.remove_prefix(1);
        while (word.ends_with(' '))
            word.remove_suffix(1);
        if (!word.empty())
            words.emplace_back(word);
    }
    return words;
}

// All features of the node: those that others gave it, and those of its
// Kubernetes Node, with our prefix. Nothing if it has just these.
std::optional<std::string> wanted_features(const WorkerPod &pod,
                                           const SlurmNode &record)
{
    std::vector<std::string> wanted;
    std::set<std::string> ours;
    for (std::string &one : words_of(record.features))
        if (one.starts_with(names::node_feature_prefix))
            ours.insert(std::move(one));
        else
            wanted.push_back(std::move(one));
    std::set<std::string> given;
    for (const std::string &one : words_of(pod.features.value_or("")))
        if (is_feature(one))
            given.insert(names::node_feature_prefix + one);
    if (given == ours)
        return std::nullopt;
    wanted.insert(wanted.end(), given.begin(), given.end());
    std::string list;
    for (const std::string &one : wanted)
        list += (list.empty() ? "" : ",") + one;
    return list;
}

void add_place(WorkerPlan &plan, const WorkerPod &pod, const SlurmNode &record)
{
    if (pod.topology && !pod.topology->empty() &&
        *pod.topology != record.topology)
        plan.topology = pod.topology;
    plan.features = wanted_features(pod, record);
}

std::string deadline_of(const std::optional<NodeJobs> &jobs,
                        const WorkerPod &pod)
{
    if (!jobs) // not read yet: what is there may be right
        return pod.deadline;
    if (jobs->count == 0)
        return {};
    return jobs->end ? second_time(*jobs->end) : no_end;
}

// What a reason of ours says of an object of this kind.
struct ReasonWords {
    ObjectKey object;
    std::string_view rest;
};

std::optional<ReasonWords> said_of(std::string_view text, std::string_view kind)
{
    for (std::string_view begin :
         {std::string_view(names::worker_drain_mark), kind}) {
        if (!text.starts_with(begin))
            return std::nullopt;
        text.remove_prefix(begin.size());
    }
    std::size_t end = text.find(' ');
    std::string_view object = text.substr(0, end);
    std::size_t slash = object.find('/');
    if (end == text.npos || slash == object.npos)
        return std::nullopt;
    return ReasonWords{{std::string(object.substr(0, slash)),
                        std::string(object.substr(slash + 1))},
                       text.substr(end)};
}

} // namespace

bool is_worker_reason(const std::string &reason)
{
    return reason.starts_with(names::worker_drain_mark);
}

bool is_node_of(const SlurmNode &record, const WorkerPod &pod)
{
    // slurmctld with EnableIPv6 shows an IPv4 address as a mapped one.
    return std::ranges::any_of(pod.addresses, [&](const std::string &address) {
        return record.address == address ||
               record.address == "::ffff:" + address;
    });
}

bool may_resume(const SlurmNode &record)
{
    // When slurmd registers with a node that was powered down, slurmctld drops
    // the reason. Nobody else can set a node DOWN without one.
    if (record.down && is_cloud(record.state) && record.reason.empty())
        return true;
    if (record.down && not_started_set(record))
        return true;
    if (record.down)
        return is_worker_reason(record.reason) &&
               (record.reason.ends_with(gone) ||
                record.reason.ends_with(gone_for_ever));
    return record.drained && is_worker_reason(record.reason);
}

std::string gone_reason(const SlurmNode &record, const WorkerPod &pod)
{
    if (!record.reason.empty() && !is_worker_reason(record.reason))
        return record.reason;
    return names::worker_drain_mark + ("Pod " + pod.key.str()) +
           (pod.for_good ? gone_for_ever : gone);
}

std::string not_started_reason(const ObjectKey &set)
{
    return names::worker_drain_mark + (set_word + set.str()) + not_started;
}

std::optional<ObjectKey> not_started_set(const SlurmNode &record)
{
    auto said = said_of(record.reason, set_word);
    if (!record.down || !said || said->rest != not_started)
        return std::nullopt;
    return std::move(said->object);
}

std::optional<ObjectKey> gone_for_good(const SlurmNode &record)
{
    auto said = said_of(record.reason, pod_word);
    if (!(record.drained || record.down) || !said ||
        (said->rest != gone_for_ever && said->rest != going_for_ever))
        return std::nullopt;
    return std::move(said->object);
}

WorkerPlan plan_worker(const WorkerPod &pod, const WorkerFacts &facts)
{
    WorkerPlan plan;
    const SlurmNode *record = facts.record;
    if (record && !is_node_of(*record, pod))
        record = nullptr;
    if (record) {
        add_step(plan, pod, *record);
        add_place(plan, pod, *record);
    }
    add_states(plan, pod, record);
    plan.conditions[names::worker_registered_condition] =
        registered(pod, record, facts.record);
    add_answer(plan, pod, record, facts);
    if (record && is_busy(*record, facts.jobs)) {
        plan.protect = "true";
        plan.deadline = deadline_of(facts.jobs, pod);
    }
    return plan;
}

} // namespace bridge
