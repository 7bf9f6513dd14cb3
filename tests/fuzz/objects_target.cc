// SPDX-License-Identifier: GPL-2.0-or-later
// Kubernetes objects, and what follows from a hostile Pod: its objections, its
// job, its end.
#include "agent/gang.h"
#include "agent/node_sync.h"
#include "agent/objects.h"
#include "agent/translate.h"
#include "common/json.h"
#include "tests/fuzz/targets.h"

#include <memory>

namespace bridge {

namespace {

Json object_in(std::string_view input)
{
    auto json = Json::parse(input);
    return json ? *json : Json{};
}

void pod(std::string_view input)
{
    Gang gang;
    gang.pods = {std::make_shared<const Pod>(pod_from(object_in(input)))};
    const Pod &pod = *gang.pods.front();
    gang.key = pod.key;
    gang.uid = pod.uid;
    promise(pod.requests.cpu.value >= 0 && pod.requests.memory.value >= 0);
    (void)generation_of(gang);
    End end = end_of(gang);
    promise(end.status >= 0);
    if (!objection_to(gang).empty())
        return;
    gang.predicate = pod.predicate;
    gang.preferred = pod.preferred;
    JobDescription job = describe_job(gang, {}, {});
    promise(!job.features.empty() && job.features.size() < 64);
    promise(job.cpus_per_task >= 1 && job.tasks == 1);
    promise(job.memory_per_node.value + job.memory_per_cpu.value > 0);
    promise(decode_gang_tag(encode(job.tag)).has_value() == !pod.uid.empty());
    Job allocated;
    allocated.state = JobState::running;
    allocated.nodes = {"kn1"};
    allocated.cpus = job.cpus_per_task;
    allocated.memory_per_node = job.memory_per_node;
    promise(place(gang, allocated, {{"kn1", "kn1"}}).has_value());
}

void node(std::string_view input)
{
    Node node = node_from(object_in(input));
    promise(node.allocatable.cpu.value >= 0 &&
            node.allocatable.memory.value >= 0);
    promise(same_for_slurm(node, node));
}

void ns(std::string_view input)
{
    Namespace ns = namespace_from(object_in(input));
    (void)ns.annotations.size();
}

constexpr FuzzTarget targets[] = {
    {"pod", pod}, {"node", node}, {"namespace", ns}};

} // namespace

std::span<const FuzzTarget> object_targets()
{
    return targets;
}

} // namespace bridge
