// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/gang_shapes.h"

#include "agent/decide/translate.h"
#include "agent/gang/facts.h"

#include <algorithm>

namespace bridge {

namespace {

struct Shape {
    std::uint32_t cpus = 0;
    MebiBytes memory;
    std::vector<PodPtr> pods; // in rank order
};

// Groups the Pods that the job is for by size, in the order of the first Pod of
// each.
std::vector<Shape> shapes_of(const Gang &gang)
{
    std::vector<Shape> shapes;
    for (const PodPtr &pod : asked_for(gang)) {
        if (!waits(gang, *pod))
            continue;
        std::uint32_t cpus = whole_cpus_up(pod->requests.cpu);
        MebiBytes memory = mebibytes_up(pod->requests.memory);
        auto same = std::ranges::find_if(shapes, [&](const Shape &shape) {
            return shape.cpus == cpus && shape.memory == memory;
        });
        if (same == shapes.end())
            same = shapes.insert(shapes.end(), {cpus, memory, {}});
        same->pods.push_back(pod);
    }
    return shapes;
}

bool needs_devices(const Shape &shape)
{
    return std::ranges::any_of(
        shape.pods, [](const PodPtr &pod) { return pod->needs_devices(); });
}

// Whether the job has options that sbatch applies to the whole job and
// slurmctld to each component.
bool is_about_all_nodes(const JobDescription &job)
{
    return job.min_nodes != 1 || job.max_nodes < job.tasks || job.contiguous ||
           job.switches || job.segment != 0;
}

std::string unfit_shapes_reason(const std::vector<Shape> &shapes,
                                const JobDescription &whole)
{
    std::size_t waiting = 0;
    for (const Shape &shape : shapes)
        waiting += shape.pods.size();
    std::string het = "a heterogeneous job ";
    if (waiting != whole.tasks)
        return het + "needs all Pods of the gang at once: " +
               std::to_string(waiting) + " of " + std::to_string(whole.tasks) +
               " exist";
    if (shapes.size() > max_components)
        return het + "may have Pods of " + std::to_string(max_components) +
               " different sizes, not of " + std::to_string(shapes.size());
    if (std::ranges::any_of(shapes, needs_devices))
        return het +
               "cannot have Pods with devices yet: the agent does not read "
               "which component has which device";
    if (is_about_all_nodes(whole))
        return het + "cannot have min-nodes, max-nodes, contiguous, switches "
                     "or segment: Slurm chooses the nodes of each component "
                     "by itself";
    return {};
}

// Returns the percentage of the tasks' CPUs, or of their memory, whichever is
// larger, that no Pod uses.
std::uint64_t padding_percent(const std::vector<Shape> &shapes)
{
    std::uint64_t pods = 0, cpus = 0, most_cpus = 0, mib = 0, most_mib = 0;
    for (const Shape &shape : shapes) {
        pods += shape.pods.size();
        cpus += shape.pods.size() * shape.cpus;
        mib += shape.pods.size() * shape.memory.value;
        most_cpus = std::max<std::uint64_t>(most_cpus, shape.cpus);
        most_mib = std::max(most_mib, shape.memory.value);
    }
    auto idle = [&](std::uint64_t used, std::uint64_t most) {
        double all = static_cast<double>(pods) * static_cast<double>(most);
        double percent = 100 * (all - static_cast<double>(used)) / all;
        return all > 0 ? static_cast<std::uint64_t>(percent) : 0;
    };
    return std::max(idle(cpus, most_cpus), idle(mib, most_mib));
}

bool wants_components(const std::vector<Shape> &shapes,
                      const JobDescription &whole, const Conf &conf)
{
    return whole.heterogeneous.value_or(padding_percent(shapes) >
                                        conf.max_padding);
}

// Returns the job with tasks of this shape, one for each of its Pods.
JobDescription component(const Gang &gang, const Shape &shape,
                         const JobDescription &whole, const Conf &conf)
{
    Gang alike = gang;
    alike.pods = shape.pods;
    alike.size = alike.minimum = shape.pods.size();
    alike.elastic = false;
    JobDescription sized = describe_job(alike, {}, conf);
    JobDescription job = whole;
    job.tasks = sized.tasks;
    job.cpus_per_task = sized.cpus_per_task;
    job.memory_per_node = sized.memory_per_node;
    job.memory_per_cpu = sized.memory_per_cpu;
    job.min_nodes = sized.min_nodes;
    job.max_nodes = sized.max_nodes;
    return job;
}

} // namespace

std::string unfit_het_job_reason(const Gang &gang, const JobDescription &whole)
{
    if (!gang.grouped || !whole.heterogeneous.value_or(false))
        return {};
    auto shapes = shapes_of(gang);
    return shapes.size() > 1 ? unfit_shapes_reason(shapes, whole) : "";
}

std::vector<JobDescription> describe_components(const Gang &gang,
                                                const JobDescription &whole,
                                                const Conf &conf)
{
    if (!gang.grouped)
        return {whole};
    auto shapes = shapes_of(gang);
    if (shapes.size() < 2 || !wants_components(shapes, whole, conf) ||
        !unfit_shapes_reason(shapes, whole).empty())
        return {whole};
    std::vector<JobDescription> components;
    for (const Shape &shape : shapes) {
        components.push_back(component(gang, shape, whole, conf));
        components.back().tag.components =
            static_cast<std::uint32_t>(shapes.size());
        if (components.size() > 1)
            components.back().licenses.clear(); // only the leader may have them
    }
    return components;
}

} // namespace bridge
