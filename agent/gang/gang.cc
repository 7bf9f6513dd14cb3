// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/gang.h"

#include "common/base/text.h"
#include "common/contract/names.h"
#include "common/slurm/het_job.h"

#include <algorithm>

namespace bridge {

namespace {

// The agent never writes a higher one.
constexpr std::uint32_t max_generation = 1'000'000;

} // namespace

std::uint32_t generation_of(const Pod &pod)
{
    auto value = whole_number<std::uint32_t>(
        pod.annotation(names::generation_annotation));
    return value && *value < max_generation ? *value : 0;
}

bool lives_by_job(const Gang &gang, const Pod &pod)
{
    if (pod.terminal() || !gang.job)
        return false;
    if (!pod.bound())
        return gang.assumed_bound.contains(pod.uid) ||
               gang.maybe_bound.contains(pod.uid);
    std::string sluid = pod.annotation(names::sluid_annotation);
    auto is_its = [&](const Job &job) { return sluid == job.ref.sluid.str(); };
    return is_its(*gang.job) ||
           std::ranges::any_of(gang.job->components, is_its);
}

const Pod &lead_of(const Gang &gang)
{
    auto first = [&](auto counts) {
        auto found = std::ranges::find_if(gang.pods, counts);
        return found == gang.pods.end() ? nullptr : found->get();
    };
    const Pod *waiting = first([&](const PodPtr &pod) {
        return !pod->bound() && !pod->terminal() && !pod->deleting &&
               !gang.assumed_bound.contains(pod->uid);
    });
    const Pod *living =
        first([](const PodPtr &pod) { return !pod->terminal(); });
    return waiting ? *waiting : living ? *living : *gang.pods.front();
}

std::optional<JobRef> binder_of(const Pod &pod)
{
    auto id = whole_number<JobId>(pod.label(names::job_id_label));
    auto sluid = Sluid::parse(pod.annotation(names::sluid_annotation));
    if (!id || !sluid)
        return std::nullopt;
    return JobRef{*id, *sluid};
}

bool bound_by(const Pod &pod, const Job &job)
{
    auto binder = binder_of(pod);
    return binder && covers(job, *binder);
}

bool placed_elsewhere(const Gang &gang, const Pod &pod)
{
    if (!pod.bound() || !lives_by_job(gang, pod) || gang.job->nodes.empty())
        return false;
    const Job &job =
        component_of(*gang.job, binder_of(pod).value_or(gang.job->ref));
    std::string node = pod.annotation(names::node_annotation);
    return !node.empty() && !std::ranges::contains(job.nodes, node);
}

bool adopts(const Gang &gang)
{
    return gang.job && std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
               return pod->living() && binder_of(*pod) &&
                      !bound_by(*pod, *gang.job) &&
                      gang.job->tag.generation > generation_of(*pod);
           });
}

bool told_to_end(const Pod &pod)
{
    return pod.deleting || (pod.active_deadline && *pod.active_deadline <= 1);
}

std::uint32_t generation_of(const Gang &gang)
{
    std::uint32_t highest = gang.least_generation;
    for (const PodPtr &pod : gang.pods)
        highest = std::max(highest, generation_of(*pod));
    return highest;
}

} // namespace bridge
