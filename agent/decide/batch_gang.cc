// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/batch_gang.h"

#include "agent/decide/end_status.h"
#include "agent/gang/batch_place.h"
#include "agent/gang/facts.h"
#include "common/base/wait_status.h"
#include "common/slurm/het_job.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

// Returns how this Pod alone ended.
End end_of_pod(const Gang &gang, const PodPtr &pod)
{
    Gang alone = gang;
    alone.pods = {pod};
    return end_of(alone);
}

// A worker that ends is a failure, whatever its exit code is: it only waits,
// and never ends by itself.
End end_of_worker(const Gang &gang, const PodPtr &pod, const std::string &node)
{
    End end = end_of_pod(gang, pod);
    end.reason = "the Pod of node " + node + " has ended" +
                 (end.reason.empty() ? "" : ": " + end.reason);
    if (end.status == 0)
        end.status = exit_1;
    return end;
}

std::optional<BatchEnd> end_of_script(const Gang &gang, const PodPtr &pod)
{
    bool by_user = pod->deleting && pod->disruption.empty();
    if (pod->terminal())
        return BatchEnd{end_of_pod(gang, pod), by_user, pod->uid};
    bool never_ran = pod->deleting && !pod->bound() &&
                     !gang.assumed_bound.contains(pod->uid);
    if (never_ran)
        return BatchEnd{{}, true, pod->uid};
    return std::nullopt;
}

// Whether the Pod runs the script or is a worker of that script Pod. Called
// often and for all Pods, so it compares only the end of the annotation.
bool belongs(const PodPtr &script, const Pod &pod)
{
    return script && (pod.uid == script->uid ||
                      pod.annotation(names::batch_place_annotation)
                          .ends_with(" " + script->uid));
}

// Why the script may have failed: srun ends with a worker and the script with
// srun, before anybody else learns of it.
std::string script_failure_reason(const Gang &gang, const PodPtr &script)
{
    for (const PodPtr &pod : gang.pods) {
        if (pod->uid == script->uid || !belongs(script, *pod))
            continue;
        auto place = batch_place(*pod);
        if (!place)
            continue;
        if (pod->terminal())
            return end_of_worker(gang, pod, place->node).reason;
        if (pod->deleting)
            return "the Pod of node " + place->node + " was deleted";
    }
    bool gone = !is_whole(gang) && !gang.of_batch.scattered;
    return gone ? "a Pod of the job was deleted" : "";
}

std::string misfit_reason(const Gang &gang, const Pod &pod,
                          const std::optional<BatchPlace> &place)
{
    const Job &job = *gang.job;
    if (pod.gated)
        return "Pod " + pod.key.name + " has scheduling gates";
    if (!place || !is_made_for(pod, job))
        return "Slurm has moved the job to other nodes since Pod " +
               pod.key.name + " was created";
    std::uint32_t cpus =
        place->rank < job.cpus_on.size() ? job.cpus_on[place->rank] : job.cpus;
    const Job &there = component_on(job, place->node);
    std::uint64_t memory = there.memory_per_node.value != 0
                               ? there.memory_per_node.value
                               : there.memory_per_cpu.value * cpus;
    std::uint64_t asked = mebibytes_up(pod.requests.memory).value;
    bool fits = cpus_of(gang, pod) <= cpus && (memory == 0 || asked <= memory);
    return fits ? std::string()
                : "the job has " + std::to_string(cpus) + " CPUs and " +
                      std::to_string(memory) + " MiB on " + place->node +
                      ", but Pod " + pod.key.name + " asks for " +
                      std::to_string(cpus_of(gang, pod)) + " CPUs and " +
                      std::to_string(asked) + " MiB";
}

} // namespace

PodPtr script_pod_of(const Gang &gang)
{
    auto found = std::ranges::find_if(gang.pods, [](const PodPtr &pod) {
        auto place = batch_place(*pod);
        return place && place->rank == 0;
    });
    return found == gang.pods.end() ? nullptr : *found;
}

bool is_whole(const Gang &gang)
{
    PodPtr script = script_pod_of(gang);
    if (!gang.job || !script)
        return false;
    auto counts = [&](const PodPtr &pod) { return belongs(script, *pod); };
    return std::cmp_greater_equal(std::ranges::count_if(gang.pods, counts),
                                  batch_place(*script)->count);
}

bool is_made_for_others(const Gang &gang)
{
    if (!gang.job || gang.job->nodes.empty() || gang.pods.empty())
        return false;
    PodPtr script = gang.grouped ? script_pod_of(gang) : gang.pods.front();
    if (!script || !waits(gang, *script) || lives_by_job(gang, *script))
        return false;
    return std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return belongs(script, *pod) && !is_made_for(*pod, *gang.job);
    });
}

std::optional<BatchEnd> end_of_batch(const Gang &gang)
{
    PodPtr script = script_pod_of(gang);
    if (!script && gang.of_batch.scattered)
        return std::nullopt;
    if (!script)
        return BatchEnd{{}, true, {}};
    if (auto end = end_of_script(gang, script)) {
        if (end->end.status != 0 && end->end.reason.empty())
            end->end.reason = script_failure_reason(gang, script);
        return end;
    }
    if (is_made_for_others(gang))
        return std::nullopt;
    for (const PodPtr &pod : gang.pods)
        if (pod->terminal() && belongs(script, *pod))
            if (auto place = batch_place(*pod))
                return BatchEnd{end_of_worker(gang, pod, place->node), false,
                                pod->uid};
    // Before one is bound, Pods may have been created that no watch has shown.
    bool bound = gang.job->state == JobState::running ||
                 std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
                     return pod->bound() && belongs(script, *pod);
                 });
    if (bound && !is_whole(gang) && !gang.of_batch.scattered)
        return BatchEnd{{exit_1, "a Pod of the job was deleted"}, false, {}};
    return std::nullopt;
}

Result<std::vector<Seat>> seat_batch_pods(const Gang &gang,
                                          const NodeMap &nodes)
{
    std::vector<Seat> seats;
    PodPtr script = script_pod_of(gang);
    for (const PodPtr &pod : gang.pods) {
        if (!waits(gang, *pod) || !belongs(script, *pod))
            continue;
        auto place = batch_place(*pod);
        if (std::string reason = misfit_reason(gang, *pod, place);
            !reason.empty())
            return fail(Code::conflict, reason);
        auto node = nodes.find(place->node);
        if (node == nodes.end())
            return fail(Code::conflict, "Slurm node " + place->node +
                                            " has no Kubernetes Node");
        seats.push_back({pod->uid, node->second, node->first, place->rank});
    }
    return seats;
}

} // namespace bridge
