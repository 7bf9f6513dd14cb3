// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/fakes/kube_contract.h"

#include <doctest/doctest.h>

namespace bridge {

namespace {

constexpr char job_label[] = "scheduler.slinky.slurm.net/slurm-jobid";
constexpr char sluid[] = "slurmk8s/sluid";

Pod other_uid(Pod pod)
{
    pod.uid = "00000000-0000-0000-0000-000000000000";
    return pod;
}

Pod read(Kube &kube, const Pod &pod)
{
    auto found = kube.get_pod(pod.key);
    REQUIRE(found.has_value());
    return *found;
}

void check_code(const Result<> &said, Code code)
{
    REQUIRE(!said.has_value());
    CHECK_MESSAGE(said.error().code == code, said.error().message);
}

// As the policies in contribs/kubernetes want one of the agent's.
Binding stamped(const std::string &node)
{
    return {node, {{job_label, "7"}}, {{sluid, "s7K"}}};
}

void binding_places_and_stamps(Kube &kube, PodFactory &pods)
{
    Pod pod = pods.make("bound");
    Binding binding = stamped(pods.node(0));

    auto said = kube.bind(pod, binding);
    REQUIRE_MESSAGE(said.has_value(), said.error().message);

    Pod bound = read(kube, pod);
    CHECK(bound.node_name == pods.node(0));
    CHECK(bound.label(job_label) == "7");
    CHECK(bound.annotation(sluid) == "s7K");
    CHECK(bound.scheduled.status == "True");
    CHECK(kube.bind(pod, binding).has_value()); // again: no harm
    binding.node = pods.node(1);
    check_code(kube.bind(pod, binding), Code::conflict);
    check_code(kube.fail_pod(bound, "R", "m"), Code::conflict);
    CHECK(read(kube, pod).phase != "Failed");
}

void binding_is_refused(Kube &kube, PodFactory &pods)
{
    Pod pod = pods.make("refused");
    Binding good = stamped(pods.node(0));
    Pod missing = pod;
    missing.key.name = "missing";

    check_code(kube.bind(other_uid(pod), good), Code::conflict);
    check_code(kube.bind(missing, good), Code::not_found);
    check_code(kube.bind(pod, {"Bad_Name/..", {}, {}}), Code::rejected);
    check_code(kube.bind(pod, {"", {}, {}}), Code::rejected);
    check_code(kube.bind(pod, {good.node, {{job_label, "a b"}}, {}}),
               Code::rejected);
    check_code(kube.bind(pod, {good.node, {}, {{"a/b/c", ""}}}),
               Code::rejected);

    CHECK(!read(kube, pod).bound());
    CHECK(kube.bind(pod, good).has_value());
}

void a_stale_pod_is_not_failed(Kube &kube, PodFactory &pods)
{
    Pod pod = pods.make("stale");
    REQUIRE(kube.bind(pod, stamped(pods.node(0))).has_value());

    check_code(kube.fail_pod(pod, "R", "m"), Code::conflict);
}

void a_waiting_pod_tells_its_reason(Kube &kube, PodFactory &pods)
{
    Pod pod = pods.make("waits");
    std::string words = "Slurm job 812 \xff pending: " + std::string(3000, 'x');

    auto said = kube.set_unscheduled(pod, {"Unschedulable", words});
    REQUIRE_MESSAGE(said.has_value(), said.error().message);

    Pod waits = read(kube, pod);
    CHECK(waits.scheduled.status == "False");
    CHECK(waits.scheduled.reason == "Unschedulable");
    CHECK(waits.scheduled.message.starts_with("Slurm job 812 ? pending: x"));
    CHECK(waits.scheduled.message.size() == 1024);

    // The same again is no write.
    CHECK(kube.set_unscheduled(waits, {"Unschedulable", words}).has_value());
    CHECK(read(kube, pod).resource_version == waits.resource_version);

    CHECK(kube.set_unscheduled(waits, {"Unschedulable", "other"}).has_value());
    CHECK(read(kube, pod).scheduled.message == "other");
    // It may have been bound since.
    check_code(kube.set_unscheduled(waits, {"R", "stale"}), Code::conflict);
    check_code(kube.set_unscheduled(other_uid(pod), {"R", "m"}),
               Code::conflict);
    pod.key.name = "missing";
    check_code(kube.set_unscheduled(pod, {"R", "m"}), Code::not_found);
}

void an_unbound_pod_fails(Kube &kube, PodFactory &pods)
{
    Pod pod = pods.make("fails");
    check_code(kube.fail_pod(other_uid(pod), "R", "m"), Code::conflict);

    auto said = kube.fail_pod(pod, "SlurmJobCancelled", "scancel by alice");
    REQUIRE_MESSAGE(said.has_value(), said.error().message);

    Pod failed = read(kube, pod);
    CHECK(failed.terminal());
    CHECK(failed.phase == "Failed");
    CHECK(failed.reason == "SlurmJobCancelled");
    CHECK(failed.message == "scancel by alice");
    CHECK(failed.scheduled.reason == "SlurmJobCancelled");
}

void a_pod_is_stamped(Kube &kube, PodFactory &pods)
{
    Pod pod = pods.make("stamped");
    TextMap generation = {{"slurmk8s/generation", "2"}};

    CHECK(kube.stamp(pod, {}, generation).has_value());
    // It may have been bound since.
    check_code(kube.stamp(pod, {}, generation), Code::conflict);
    CHECK(kube.stamp(read(kube, pod), {{job_label, "9"}}, {{sluid, "s9"}})
              .has_value());

    Pod stamped = read(kube, pod);
    CHECK(stamped.annotation("slurmk8s/generation") == "2");
    CHECK(stamped.annotation(sluid) == "s9");
    CHECK(stamped.label(job_label) == "9");
    check_code(kube.stamp(other_uid(pod), {}, generation), Code::conflict);
    check_code(kube.stamp(pod, {}, {{"not a name", "3"}}), Code::rejected);
    check_code(kube.stamp(pod, {{job_label, "a b"}}, {}), Code::rejected);
    pod.key.name = "missing";
    check_code(kube.stamp(pod, {}, generation), Code::not_found);
}

void a_bound_pod_is_expired(Kube &kube, PodFactory &pods)
{
    Pod pod = pods.make("expired");
    REQUIRE(kube.bind(pod, stamped(pods.node(0))).has_value());

    auto said = kube.expire_pod(pod);
    REQUIRE_MESSAGE(said.has_value(), said.error().message);

    CHECK(read(kube, pod).active_deadline == 1);
    CHECK(kube.expire_pod(pod).has_value()); // again: no harm
    check_code(kube.expire_pod(other_uid(pod)), Code::conflict);
    pod.key.name = "missing";
    check_code(kube.expire_pod(pod), Code::not_found);
}

void a_disruption_is_said(Kube &kube, PodFactory &pods)
{
    Pod pod = pods.make("disrupted");
    check_code(kube.set_disrupted(other_uid(pod), "R", "m"), Code::conflict);

    auto said = kube.set_disrupted(pod, "PreemptionByScheduler", "words");
    REQUIRE_MESSAGE(said.has_value(), said.error().message);

    Pod disrupted = read(kube, pod);
    CHECK(disrupted.disruption == "PreemptionByScheduler");
    // Whatever was said first stays.
    CHECK(kube.set_disrupted(disrupted, "Other", "words").has_value());
    CHECK(read(kube, pod).disruption == "PreemptionByScheduler");
}

void evicting_spares_another_pod(Kube &kube, PodFactory &pods)
{
    Pod pod = pods.make("evicted");

    constexpr std::chrono::seconds grace{1};
    CHECK(kube.evict_pod(other_uid(pod), grace).has_value());
    CHECK(!read(kube, pod).deleting);
    CHECK(kube.evict_pod(pod, grace).has_value());
    CHECK(kube.evict_pod(pod, grace).has_value()); // again: no harm

    CHECK(kube.get_pod(pod.key).error().code == Code::not_found);
}

void deleting_spares_another_pod(Kube &kube, PodFactory &pods)
{
    Pod pod = pods.make("deleted");
    // The agent's policy lets it delete no other.
    REQUIRE(kube.stamp(pod, {{job_label, "7"}}, {}).has_value());

    CHECK(kube.delete_pod(other_uid(pod)).has_value());
    CHECK(!read(kube, pod).deleting);
    CHECK(kube.delete_pod(pod).has_value());
    CHECK(kube.delete_pod(pod).has_value()); // again: no harm

    auto found = kube.get_pod(pod.key);
    REQUIRE(!found.has_value());
    CHECK(found.error().code == Code::not_found);
}

void deleting_within_a_time_spares_another_pod(Kube &kube, PodFactory &pods)
{
    constexpr std::chrono::seconds grace{5};
    Pod pod = pods.make("deleted-within");
    REQUIRE(kube.stamp(pod, {{job_label, "7"}}, {}).has_value());

    CHECK(kube.delete_within(other_uid(pod), grace).has_value());
    CHECK(!read(kube, pod).deleting);
    CHECK(kube.delete_within(pod, grace).has_value());
    CHECK(kube.delete_within(pod, grace).has_value()); // again: no harm

    CHECK(kube.get_pod(pod.key).error().code == Code::not_found);
}

void an_unbound_pod_is_deleted_as_read(Kube &kube, PodFactory &pods)
{
    Pod pod = pods.make("unbound");
    Pod bound = pods.make("bound-meanwhile");
    REQUIRE(kube.bind(bound, stamped(pods.node(0))).has_value());
    REQUIRE(kube.stamp(pod, {{job_label, "7"}}, {}).has_value());

    check_code(kube.delete_unbound(pod), Code::conflict); // it has changed
    check_code(kube.delete_unbound(bound), Code::conflict);
    check_code(kube.delete_unbound(read(kube, bound)), Code::conflict);
    CHECK(!read(kube, pod).deleting);
    CHECK(!read(kube, bound).deleting);
    pod = read(kube, pod);
    CHECK(kube.delete_unbound(pod).has_value());
    CHECK(kube.delete_unbound(pod).has_value()); // again: no harm

    CHECK(kube.get_pod(pod.key).error().code == Code::not_found);
}

void events_are_written(Kube &kube, PodFactory &pods)
{
    Pod pod = pods.make(std::string(235, 'n') + "." + std::string(17, 'm'));
    PodEvent event{PodEvent::Type::warning, "FailedScheduling", "Scheduling",
                   std::string(1023, 'x') + "\xc3\xa4"};

    for (int i = 0; i < 2; i++) { // each has a name of its own
        auto said = kube.post_event(pod, event);
        CHECK_MESSAGE(said.has_value(), said.error().message);
    }

    CHECK(pods.events_of(pod) == 2);
}

} // namespace

void kube_contract(Kube &kube, PodFactory &pods)
{
    binding_places_and_stamps(kube, pods);
    binding_is_refused(kube, pods);
    a_stale_pod_is_not_failed(kube, pods);
    a_waiting_pod_tells_its_reason(kube, pods);
    an_unbound_pod_fails(kube, pods);
    a_pod_is_stamped(kube, pods);
    a_bound_pod_is_expired(kube, pods);
    a_disruption_is_said(kube, pods);
    evicting_spares_another_pod(kube, pods);
    deleting_spares_another_pod(kube, pods);
    deleting_within_a_time_spares_another_pod(kube, pods);
    an_unbound_pod_is_deleted_as_read(kube, pods);
    events_are_written(kube, pods);
}

} // namespace bridge
