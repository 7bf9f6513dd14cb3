// SPDX-License-Identifier: GPL-2.0-or-later
// Tells a batch job of several nodes where its Pods are: once all have an
// address, the agent writes them onto the script's Pod, where srun reads them
// in a file. Until then, and until the container of a job of one node has
// started, the agent also checks what the kubelets need for these Pods.
#include "agent/owner/bridge.h"

#include "agent/batch/srun.h"
#include "agent/batch/srun_map.h"
#include "agent/decide/batch_gang.h"
#include "agent/gang/batch_place.h"
#include "common/base/backoff.h"
#include "common/base/log.h"
#include "common/contract/names.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::chrono::seconds longest_pause{60};
// Most Pods run by then.
constexpr std::chrono::seconds first_look{20};

// Returns "RANK NODE IP" lines, or "" while a Pod has no address yet.
std::string hosts_text(const std::vector<PodPtr> &pods,
                       const TextMap &addresses)
{
    std::string text;
    for (const PodPtr &pod : pods) {
        auto place = batch_place(*pod);
        auto address = addresses.find(pod->uid);
        if (!place || address == addresses.end())
            return {};
        text += std::to_string(place->rank) + " " + place->node + " " +
                address->second + "\n";
    }
    return text;
}

// Runs on a worker.
Result<> set_hosts(const Pod &script, const std::vector<PodPtr> &pods,
                   Kube &kube)
{
    auto addresses = kube.addresses_of(script.key.ns, names::gang_label,
                                       script.label(names::gang_label));
    if (!addresses)
        return std::unexpected(addresses.error());
    std::string text = hosts_text(pods, *addresses);
    if (text.empty())
        return {};
    return kube.stamp(script, {}, {{names::batch_hosts_annotation, text}});
}

// Returns the script's Pod of a running job with srun, if it has not been told
// yet where the other Pods are, or, in a job of one Pod, if it has not started.
// Called at each turn of a job, so it does not look at all Pods.
PodPtr untold_script(const Gang &gang)
{
    if (!gang.job || gang.job->state != JobState::running || gang.pods.empty())
        return nullptr;
    PodPtr script = gang.grouped ? script_pod_of(gang) : gang.pods.front();
    if (!script || !script->annotations.contains(names::batch_srun_annotation))
        return nullptr;
    bool told =
        gang.grouped
            ? script->annotations.contains(names::batch_hosts_annotation)
            : script->started || !script->living();
    return told ? nullptr : script;
}

bool all_run(const Gang &gang)
{
    auto runs = [](const PodPtr &pod) { return pod->living() && pod->started; };
    return std::ranges::all_of(gang.pods, runs) && is_whole(gang);
}

// Runs on a worker.
Result<> restore_map(const Pod &script, const SrunContext &srun, Kube &kube,
                     SrunMaps &maps)
{
    if (!srun.may)
        return {};
    auto made = restore_srun_map(script, srun.path, kube, maps, srun.now);
    if (!made)
        return std::unexpected(made.error());
    if (*made)
        log_warning("recreated the ConfigMap with srun, for which Pods wait",
                    {{"Pod", script.key.str()}});
    return {};
}

} // namespace

// Each Pod keeps its address, and none is recreated while its job runs. The
// annotation is written again until the watch shows it. While not all Pods run,
// the record is kept under the uid of the script's Pod.
void Bridge::update_batch_hosts(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    PodPtr script = untold_script(gang);
    if (!script) {
        batch_hosts_.erase(gang.uid);
        return;
    }
    bool run = gang.grouped && all_run(gang);
    if (gang.grouped) // otherwise both are the same
        batch_hosts_.erase(run ? script->uid : gang.uid);
    std::string key = run ? gang.uid : script->uid;
    auto [record, fresh] = batch_hosts_.try_emplace(key);
    HostsUntold &untold = record->second;
    if (fresh && !run) {
        untold.next = context_.now + first_look;
        untold.pause = first_look;
    }
    if (untold.in_flight)
        return;
    if (context_.now < untold.next)
        return agenda_.wake_at(entry, untold.next);
    untold.in_flight = true;
    SrunContext srun{.path = context_.ports.srun,
                     .may = context_.ports.access.may(Feature::sbatch_srun),
                     .now = context_.now};
    errands_.ask(
        [run, script, srun, pods = gang.pods, &maps = srun_maps_](Slurm &,
                                                                  Kube &kube) {
            return run ? set_hosts(*script, pods, kube)
                       : restore_map(*script, srun, kube, maps);
        },
        [this, key, run, script, uid = gang.uid](const Result<> &said) {
            if (!said)
                log_warning(
                    run ? "cannot tell srun in a batch job where the Pods "
                          "are, retrying"
                        : "cannot check the ConfigMap with srun, retrying",
                    {{"Pod", script->key.str()},
                     {"err", said.error().message}});
            asked_batch_hosts(key);
            agenda_.wake(uid);
        });
}

void Bridge::asked_batch_hosts(const std::string &uid)
{
    auto untold = batch_hosts_.find(uid);
    if (untold == batch_hosts_.end())
        return;
    HostsUntold &later = untold->second;
    later.in_flight = false;
    later.next = context_.now + later.pause;
    later.pause = doubled(later.pause, longest_pause);
}

} // namespace bridge
