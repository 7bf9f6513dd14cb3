// SPDX-License-Identifier: GPL-2.0-or-later
// Kubernetes objects, and what follows from a hostile Pod: its objections, its
// job, its end.
#include "agent/decide/end_status.h"
#include "agent/decide/gang_place.h"
#include "agent/decide/translate.h"
#include "agent/gang/gang.h"
#include "agent/nodes/features.h"
#include "agent/nodes/marks.h"
#include "agent/nodes/plan.h"
#include "agent/nodes/words.h"
#include "agent/objects/foreign_pods.h"
#include "agent/objects/gang_key.h"
#include "agent/objects/group_spec.h"
#include "agent/objects/objects.h"
#include "agent/objects/pod_placement.h"
#include "agent/workers/worker_pod.h"
#include "common/base/json.h"
#include "common/contract/names.h"
#include "tests/fuzz/targets.h"

#include <memory>

namespace bridge {

namespace {

Json object_in(std::string_view input)
{
    auto json = Json::parse(input);
    return json ? *json : Json{};
}

// The Pod is all there is of its gang.
void grouped(const Gang &alone)
{
    const GangKey &key = *alone.pods.front()->gang;
    promise(key.uid != alone.uid && key.minimum <= key.size);
    promise(key.unfit_reason.find_first_of("\n\x1b") == std::string::npos);
    for (const GangKey *k = &key; k; k = k->otherwise.get())
        promise(names_gang(*alone.pods.front(), k->uid));
    Gang gang = alone;
    gang.grouped = true;
    gang.uid = key.uid;
    GangTerms terms = terms_of(gang.pods, 8);
    gang.size = terms.size;
    gang.minimum = terms.minimum;
    if (!terms.unfit_reason.empty() || !unfit_reason(gang).empty())
        return;
    promise(terms.size <= 8);
    JobDescription job = describe_job(gang, {}, {});
    promise(job.tasks >= 1 && job.tasks <= 8 && job.min_nodes <= job.tasks);
    promise(decode_gang_tag(encode(job.tag)).has_value());
    Job allocated;
    allocated.state = JobState::configuring;
    allocated.nodes = {"kn1"};
    allocated.tasks = job.tasks;
    allocated.cpus_per_task = job.cpus_per_task;
    allocated.cpus = job.cpus_per_task * job.tasks;
    allocated.memory_per_cpu = job.memory_per_cpu;
    allocated.memory_per_node = job.memory_per_node;
    gang.job = allocated;
    promise(seat_pods(gang, {{"kn1", "kn1"}}).has_value());
}

// Of each API: what it says is a number of Pods that a gang may have, or is
// refused in one line.
void pod_group(std::string_view input)
{
    for (GroupApi api : group_apis) {
        GroupSpec spec = group_spec_from(object_in(input), api);
        promise(spec.api == api && spec.same_terms(spec));
        promise(spec.minimum <= spec.size || spec.minimum == 0);
        promise(spec.size >= 1 && spec.size <= 2147483647);
        promise(spec.minimum != 0 || api == GroupApi::workload);
        promise(spec.timeout.count() >= 0 &&
                spec.timeout <= std::chrono::hours(24));
        promise(spec.unfit_reason.find_first_of("\n\x1b") == std::string::npos);
        promise(spec.status.running <= 2147483647);
        PodGroupStatus next =
            next_status(spec.status, spec.minimum, {3, 1, 1, 1}, "a/b");
        promise(next == next_status(next, spec.minimum, {3, 1, 1, 1}, "a/b"));
    }
}

void worker(const Json &object)
{
    auto worker = worker_from(object);
    promise(!worker || !worker->request.drain || worker->request.number > 0);
}

void pod(std::string_view input)
{
    worker(object_in(input));
    Gang gang;
    gang.pods = {std::make_shared<const Pod>(pod_from(object_in(input)))};
    const Pod &pod = *gang.pods.front();
    gang.key = pod.key;
    gang.uid = pod.uid;
    promise(pod.requests.cpu.value >= 0 && pod.requests.memory.value >= 0);
    (void)generation_of(gang);
    End end = end_of(gang);
    promise(end.status >= 0);
    // The API server makes the uid, never with a slash.
    if (pod.gang && !pod.uid.empty() && !pod.uid.contains('/'))
        grouped(gang);
    if (!unfit_reason(gang).empty())
        return;
    gang.placement.predicate = pod.predicate;
    gang.placement.preferred = pod.preferred;
    JobDescription job = describe_job(gang, {}, {});
    promise(job.features.ends_with(value_of(pod.predicate).feature()));
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
    std::vector<std::string> warnings;
    std::string features =
        features_of(node, {{"topology.kubernetes.io/zone", "zone"}}, warnings);
    promise(!features.contains(' '));
    promise(!topology_of(node, warnings).contains(' '));
    (void)drain_reason(node);
    SlurmNode behind;
    behind.drained = true;
    (void)plan_marks(node, behind, "", {});
    ForeignPod pod = foreign_pod_from(object_in(input));
    promise(pod.asks.cpu.value >= 0 && pod.asks.memory.value >= 0);
}

void ns(std::string_view input)
{
    Namespace ns = namespace_from(object_in(input));
    (void)ns.annotations.size();
}

// {"pod": …, "node": …}: equal predicates have one text, and it is bounded.
void predicate(std::string_view input)
{
    Json both = object_in(input);
    PodPlacement placement = pod_placement(both.at("pod"));
    Node node = node_from(both.at("node"));
    const Predicate &value = value_of(placement.required);
    promise(value.text().size() <= Predicate::max_text);
    promise(value.feature().starts_with(names::predicate_prefix));
    promise(!value.feature().starts_with(names::pin_prefix));
    promise(value.feature().size() < 20);
    promise(matches(value, node) == mismatch(value, node).empty());
    auto again = Predicate::make(value.selectors(), value.tolerations());
    promise(again.has_value() && value_of(*again) == value);
    if (placement.preferred && matches(*placement.preferred, node))
        promise(matches(value, node));
}

// {"pod": …, "claims": […], "volumes": […], "classes": […], "node": …}
void volumes(std::string_view input)
{
    Json all = object_in(input);
    Pod pod = pod_from(all.at("pod"));
    Node node = node_from(all.at("node"));
    VolumeFacts facts;
    for (const Json &item : all.items("claims")) {
        Claim claim = claim_from(item);
        facts.claims[claim.name] = claim;
    }
    for (const Json &item : all.items("volumes")) {
        Volume volume = volume_from(item);
        facts.volumes[volume.name] = volume;
    }
    for (const Json &item : all.items("classes")) {
        StorageClass made = storage_class_from(item);
        facts.classes[made.name] = made;
    }
    VolumeNeeds needs = volume_needs(pod.claims, pod.uid, facts);
    if (!needs.reason.empty())
        return;
    auto steps = claim_steps(pod.claims, facts, node);
    promise(needs.unbound || (steps.has_value() && steps->empty()));
    if (!steps)
        return;
    for (const ClaimStep &step : *steps)
        promise(facts.claims.contains(step.claim) &&
                (step.volume.empty() || facts.volumes.contains(step.volume)));
}

constexpr FuzzTarget targets[] = {{"pod", pod},
                                  {"node", node},
                                  {"namespace", ns},
                                  {"predicate", predicate},
                                  {"pod_group", pod_group},
                                  {"volumes", volumes}};

} // namespace

std::span<const FuzzTarget> object_targets()
{
    return targets;
}

} // namespace bridge
