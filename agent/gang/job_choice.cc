// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/job_choice.h"

#include "agent/gang/facts.h"
#include "common/contract/names.h"

#include <algorithm>

namespace bridge {

namespace {

bool alive(const Job &job)
{
    return !is_ended(job.state);
}

const Job *choose_for_lone(const Gang &gang, const std::vector<Job> &jobs)
{
    const Pod *living = nullptr;
    for (const PodPtr &pod : gang.pods)
        if (pod->bound() && binder_of(*pod))
            living = pod.get();
    // The oldest that lives; otherwise the last that ended, except for those
    // that the agent ended as duplicates of an older one.
    if (!living) {
        auto chosen = std::ranges::find_if(jobs, alive);
        if (chosen == jobs.end())
            chosen = std::ranges::max_element(
                jobs, {}, [](const Job &job) { return job.tag.generation; });
        return chosen == jobs.end() ? nullptr : &*chosen;
    }
    auto binder = std::ranges::find(jobs, *binder_of(*living), &Job::ref);
    if (binder != jobs.end() && alive(*binder) &&
        binder->state != JobState::pending) // otherwise its allocation is lost
        return &*binder;
    for (const Job &job : jobs) // a job that was to adopt the Pods
        if (alive(job) && job.tag.generation > generation_of(*living))
            return &job;
    return binder == jobs.end() ? nullptr : &*binder;
}

const Job *choose_for_group(const Gang &gang, const std::vector<Job> &jobs)
{
    const Job *chosen = nullptr;
    auto better = [&](const Job &job) {
        if (!chosen)
            return true;
        bool was_alive = alive(*chosen);
        if (alive(job) != was_alive)
            return alive(job);
        if (is_allocated(job.state) != is_allocated(chosen->state))
            return is_allocated(job.state);
        return !alive(job); // the oldest that lives, else the last that ended
    };
    for (const Job &job : jobs)
        if ((gang.pods.empty() || is_job_of_these(gang, job)) && better(job))
            chosen = &job;
    return chosen;
}

} // namespace

const Job *choose_job(const Gang &gang, const std::vector<Job> &jobs)
{
    return gang.grouped ? choose_for_group(gang, jobs)
                        : choose_for_lone(gang, jobs);
}

bool is_binder(const Gang &gang, const Job &job)
{
    return std::ranges::any_of(
        gang.pods, [&](const PodPtr &pod) { return bound_by(*pod, job); });
}

bool lost_allocation(const Gang &gang, const Job &job)
{
    auto without = [&](const PodPtr &pod) {
        return bound_by(*pod, job) &&
               !std::ranges::contains(job.nodes,
                                      pod->annotation(names::node_annotation));
    };
    return job.state == JobState::pending ||
           (!job.nodes.empty() && std::ranges::any_of(gang.pods, without));
}

} // namespace bridge
