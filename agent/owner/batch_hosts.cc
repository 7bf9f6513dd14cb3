// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/batch_hosts.h"

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

// Runs on a worker thread.
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

// Runs on a worker thread.
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
// annotation is written again until the watch shows it.
void BatchHosts::update(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    PodPtr script = untold_script(gang);
    if (!script)
        return forget(gang.uid);
    bool run = gang.grouped && all_run(gang);
    if (run)
        starting_.erase(script->uid);
    else
        all_run_.erase(gang.uid);
    auto [record, fresh] = run ? all_run_.try_emplace(gang.uid)
                               : starting_.try_emplace(script->uid);
    Untold &untold = record->second;
    if (fresh && !run) {
        untold.next = context_.now + first_look;
        untold.pause = first_look;
    }
    if (untold.in_flight)
        return;
    if (context_.now < untold.next)
        return agenda_.wake_at(entry, untold.next);
    untold.in_flight = true;
    ask(gang.uid, script, run, gang.pods);
}

void BatchHosts::ask(const std::string &gang, const PodPtr &script,
                     bool all_run, const std::vector<PodPtr> &pods)
{
    SrunContext srun{.path = context_.ports.srun,
                     .may = context_.ports.access.may(Feature::sbatch_srun),
                     .now = context_.now};
    errands_.ask(
        [all_run, script, srun, pods, &maps = caches_.srun_maps](Slurm &,
                                                                 Kube &kube) {
            return all_run ? set_hosts(*script, pods, kube)
                           : restore_map(*script, srun, kube, maps);
        },
        [this, gang, script, all_run](const Result<> &said) {
            answered(gang, script, all_run, said);
        });
}

void BatchHosts::answered(const std::string &gang, const PodPtr &script,
                          bool all_run, const Result<> &said)
{
    if (!said)
        log_warning(
            all_run ? "cannot tell srun in a batch job where the Pods are, "
                      "retrying"
                    : "cannot check the ConfigMap with srun, retrying",
            {{"Pod", script->key.str()}, {"err", said.error().message}});
    auto &records = all_run ? all_run_ : starting_;
    auto untold = records.find(all_run ? gang : script->uid);
    if (untold != records.end()) {
        Untold &later = untold->second;
        later.in_flight = false;
        later.next = context_.now + later.pause;
        later.pause = doubled(later.pause, longest_pause);
    }
    agenda_.wake(gang);
}

void BatchHosts::forget(const std::string &uid)
{
    all_run_.erase(uid);
    starting_.erase(uid);
}

} // namespace bridge
