// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/objects.h"
#include "tests/unit/fakes/test_data.h"

using namespace bridge;

TEST_CASE("a Pod of a real API server is read")
{
    Pod pod = pod_from(json_file("pod-running.json"));

    CHECK(pod.key.str() == "g/plain");
    CHECK(pod.uid == "9ac938f3-f653-4545-a7bb-a02835283ec1");
    CHECK(pod.resource_version == "3492");
    CHECK(pod.generation == 1);
    CHECK(pod.label("topology.kubernetes.io/zone").empty()); // not ours
    CHECK(pod.label("none").empty());
    CHECK(pod.scheduler_name == "default-scheduler");
    CHECK(pod.node_name == "n2");
    CHECK(pod.bound());
    CHECK(!pod.gated);
    CHECK(!pod.deleting);
    CHECK(!pod.terminal());
    CHECK(!pod.active_deadline.has_value());
    CHECK(pod.requests == Requests{MilliCpu{1000}, Bytes{1 << 30}, {}});
    CHECK(pod.unfit_reasons.empty());
    CHECK(pod.phase == "Running");
    CHECK(pod.scheduled == ScheduledCondition{"True", "", ""});
    REQUIRE(pod.containers.size() == 1);
    CHECK(pod.containers[0].name == "main");
    CHECK(!pod.containers[0].terminated);
}

TEST_CASE("a gated and an unschedulable Pod are told apart")
{
    Pod gated = pod_from(json_file("pod-gated.json"));
    Pod waiting = pod_from(json_file("pod-unschedulable.json"));

    CHECK(gated.gated);
    CHECK(gated.scheduled.reason == "SchedulingGated");
    CHECK(!waiting.gated);
    CHECK(!waiting.bound());
    CHECK(waiting.scheduled.status == "False");
    CHECK(waiting.scheduled.reason == "Unschedulable");
}

TEST_CASE("the owner is the one that controls")
{
    Pod pod = pod_from(json_of(R"({"metadata": {
        "deletionTimestamp": "2026-11-21T07:07:41Z",
        "deletionGracePeriodSeconds": 45,
        "ownerReferences": [
            {"kind": "Other", "name": "o", "uid": "1"},
            {"kind": "Job", "name": "j", "uid": "2", "controller": true}]},
        "spec": {"activeDeadlineSeconds": 90}})"));

    CHECK(pod.owner.kind == "Job");
    CHECK(pod.owner.name == "j");
    CHECK(pod.deleting);
    CHECK(pod.deletion_grace == std::chrono::seconds(45));
    CHECK(pod.active_deadline == 90);
}

TEST_CASE("the grace period, and the longest one of a probe")
{
    auto of_spec = [](const std::string &spec) {
        return pod_from(json_of(R"({"spec": {)" + spec + "}}"));
    };
    auto probe = [](const char *name, const char *grace) {
        return std::string(R"({"name": "c", ")") + name +
               R"(": {"terminationGracePeriodSeconds": )" + grace + "}}";
    };
    using std::chrono::seconds;

    CHECK(of_spec("").grace_period == seconds(30));
    CHECK(of_spec("").probe_grace == seconds(0));
    CHECK(of_spec(R"("terminationGracePeriodSeconds": 7)").grace_period ==
          seconds(7));
    CHECK(of_spec(R"("containers": [)" + probe("livenessProbe", "50") + "," +
                  probe("startupProbe", "60") + R"(, {"name": "d"}],
                  "initContainers": [)" +
                  probe("livenessProbe", "70") + "]")
              .probe_grace == seconds(70));
    CHECK(of_spec(R"("containers": [)" + probe("startupProbe", "60") + "]")
              .probe_grace == seconds(60));
    CHECK(of_spec(R"("containers": [)" + probe("livenessProbe", "-5") + "," +
                  probe("startupProbe", "\"x\"") + "," +
                  probe("readinessProbe", "90") + "]")
              .probe_grace == seconds(0));
}

TEST_CASE("containers come in the order of the spec, with their ends")
{
    Pod pod = pod_from(json_of(R"({
        "spec": {"containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]},
        "status": {"phase": "Failed", "reason": "Evicted", "message": "why",
          "containerStatuses": [
            {"name": "c", "state": {"terminated": {"exitCode": 137,
                "signal": 9, "reason": "OOMKilled"}}},
            {"name": "a", "state": {"terminated": {"exitCode": 0,
                "reason": "Completed"}}}]}})"));

    CHECK(pod.terminal());
    CHECK(pod.reason == "Evicted");
    CHECK(pod.message == "why");
    REQUIRE(pod.containers.size() == 3);
    CHECK(pod.containers[0].name == "a");
    CHECK(pod.containers[0].terminated);
    CHECK(pod.containers[0].exit_code == 0);
    CHECK(pod.containers[1].name == "b");
    CHECK(!pod.containers[1].terminated);
    CHECK(pod.containers[2].exit_code == 137);
    CHECK(pod.containers[2].signal == 9);
    CHECK(pod.containers[2].reason == "OOMKilled");
}

TEST_CASE("an init container counts where it failed, a sidecar never")
{
    Pod pod = pod_from(json_of(R"({
        "spec": {"initContainers": [{"name": "good"}, {"name": "bad"},
                    {"name": "side", "restartPolicy": "Always"}],
                 "containers": [{"name": "main"}]},
        "status": {"phase": "Failed", "initContainerStatuses": [
            {"name": "good", "state": {"terminated": {"exitCode": 0}}},
            {"name": "bad", "state": {"terminated": {"exitCode": 3}}},
            {"name": "side", "state": {"terminated": {"exitCode": 143}}}]}})"));

    REQUIRE(pod.containers.size() == 2);
    CHECK(pod.containers[0].name == "bad");
    CHECK(pod.containers[0].exit_code == 3);
    CHECK(pod.containers[1].name == "main");
}

TEST_CASE("an object of odd shape reads as an empty one")
{
    for (const char *text :
         {"null", "[]", "7", R"({"metadata": 1, "spec": [], "status": "x"})",
          R"({"metadata": {"labels": [1], "name": 2, "ownerReferences": {}},
              "spec": {"containers": {"a": 1}, "nodeName": null},
              "status": {"conditions": [1, null, {}]}})"}) {
        CAPTURE(text);
        Pod pod = pod_from(json_of(text));
        CHECK(pod.key == ObjectKey{});
        CHECK(pod.containers.empty());
        CHECK(pod.unfit_reasons.empty());
        CHECK(!pod.bound());
        Node node = node_from(json_of(text));
        CHECK(node.unfit_reason.empty());
        CHECK(namespace_from(json_of(text)).name.empty());
    }
}

TEST_CASE("exit codes beyond an int are not taken for success")
{
    Pod pod = pod_from(json_of(R"({
        "spec": {"containers": [{"name": "a"}]},
        "status": {"containerStatuses": [{"name": "a", "state":
            {"terminated": {"exitCode": 4294967296}}}]}})"));

    CHECK(pod.containers.at(0).exit_code == -1);
}

TEST_CASE("a Pod's objections fit into a message")
{
    std::string requests;
    for (int i = 0; i < 1000; i++)
        requests += R"("example.com/)" + std::to_string(i) + R"(": "x",)";
    requests += R"("cpu": "1")";
    Pod pod = pod_from(json_of(R"({"spec": {"containers": [{"name": "a",
        "resources": {"requests": {)" +
                               requests + "}}}]}}"));

    CHECK(pod.unfit_reasons.size() == 10);
}

TEST_CASE("a Node of a real API server is read")
{
    Node node = node_from(json_file("node.json"));

    CHECK(!node.name.empty());
    CHECK(!node.uid.empty());
    CHECK(node.ready);
    CHECK(!node.unschedulable);
    CHECK(node.allocatable.cpu.value > 0);
    CHECK(node.allocatable.memory.value > 0);
    CHECK(node.unfit_reason.empty());
}

TEST_CASE("a Node that is cordoned, tainted, leaving or odd")
{
    Node node = node_from(json_of(R"({
        "metadata": {"name": "n", "deletionTimestamp": "x",
                     "labels": {"l": "1"}, "annotations": {"a": "2"}},
        "spec": {"unschedulable": true, "taints": [
            {"key": "k", "value": "v", "effect": "NoSchedule"}]},
        "status": {"conditions": [{"type": "Ready", "status": "Unknown"}],
            "allocatable": {"cpu": "3500m", "memory": "1Gi", "pods": "110",
                            "example.com/gpu": "-1"}}})"));

    CHECK(node.unschedulable);
    CHECK(node.deleting);
    CHECK(!node.ready);
    CHECK(node.label("l") == "1");
    CHECK(node.annotation("a") == "2");
    REQUIRE(node.taints.size() == 1);
    CHECK(node.taints[0].effect == "NoSchedule");
    CHECK(node.allocatable.cpu == MilliCpu{3500});
    CHECK(node.allocatable.others.at("pods") == 110);
    CHECK(node.unfit_reason.contains("allocatable example.com/gpu"));
}

TEST_CASE("a Namespace's annotations are read")
{
    Namespace space = namespace_from(json_of(
        R"({"metadata": {"name": "n", "annotations": {"slurmk8s/user": "u"},
            "labels": {"l": "1"}}})"));

    CHECK(space.name == "n");
    CHECK(space.annotations.at("slurmk8s/user") == "u");
    CHECK(space.labels.at("l") == "1");
}

TEST_CASE("a Pod, and a workload, has at most 96 annotations for the agent")
{
    auto with = [](int number) {
        std::string text = R"({"metadata": {"annotations": {)";
        for (int i = 0; i < number; i++)
            text += R"("slurmk8s/n)" + std::to_string(i) + R"(": "", )";
        return json_of(text + R"("other/x": "", "slurmk8s/sluid": "s1",
                                  "slurmk8s/rank": "1"}}})");
    };
    Pod most = pod_from(with(96));
    CHECK(most.unfit_reasons.empty());
    CHECK(most.annotations.size() == 98);
    CHECK(workload_from(with(96)).annotations.size() == 98);

    for (int number : {97, 1365}) {
        CAPTURE(number);
        Pod more = pod_from(with(number));
        REQUIRE(more.unfit_reasons.size() == 1);
        CHECK(more.unfit_reasons.front() ==
              "its annotations slurmk8s/… and …slinky.slurm.net/… are too "
              "many: 96 are allowed");
        CHECK(more.annotations.size() == 98);
        CHECK(more.annotation("slurmk8s/sluid") == "s1");
        CHECK(workload_from(with(number)).annotations.size() == 98);
    }
}

TEST_CASE("what a Pod says in vain is not kept, and the Pod is refused for it")
{
    auto kept = [](const Pod &pod) {
        std::size_t bytes = 0;
        for (const TextMap *texts : {&pod.annotations, &pod.labels})
            for (const auto &[name, value] : *texts)
                bytes += name.size() + value.size();
        return bytes;
    };
    auto of_annotations = [](const std::string &text) {
        return pod_from(json_of(R"({"metadata": {"annotations": {)" + text +
                                R"(, "slurmk8s/sluid": "s1"}}})"));
    };
    constexpr std::size_t most = 32 * 1024; // of annotations and labels

    Pod long_one =
        of_annotations(R"("slurmk8s/a": ")" + std::string(250'000, 'x') + '"');
    CHECK(kept(long_one) < most);
    CHECK(long_one.annotation("slurmk8s/sluid") == "s1");
    REQUIRE(long_one.unfit_reasons.size() == 1);
    CHECK(long_one.unfit_reasons.front().contains("annotations"));

    std::string many;
    for (int i = 0; i < 8000; i++)
        many += std::string(i == 0 ? "" : ",") + R"("slurmk8s/)" +
                std::to_string(i) + R"(": "x")";
    Pod short_ones = of_annotations(many);
    CHECK(kept(short_ones) < most);
    CHECK(short_ones.annotations.size() == 97); // 96, and the agent's own
    CHECK(short_ones.annotation("slurmk8s/sluid") == "s1");
    CHECK(short_ones.unfit_reasons.size() == 1);
    Pod labelled =
        pod_from(json_of(R"({"metadata": {"labels": {)" + many + "}}}"));
    CHECK(labelled.labels.size() < 2000);
    CHECK(labelled.unfit_reasons.size() == 1);

    // As long as slurmctld allows, and then some.
    Pod good =
        of_annotations(R"("slurmk8s/comment": ")" + std::string(1500, 'x') +
                       R"(", "other/x": ")" + std::string(90'000, 'x') + '"');
    CHECK(good.annotation("slurmk8s/comment").size() == 1500);
    CHECK(good.unfit_reasons.empty());
}

TEST_CASE("a Pod has at most 128 volume claims")
{
    auto with = [](int number) {
        std::string volumes;
        for (int i = 0; i < number; i++)
            volumes += std::string(i == 0 ? "" : ",") +
                       R"({"name": "v", "persistentVolumeClaim":)" +
                       R"({"claimName": "c)" + std::to_string(i) + R"("}})";
        return pod_from(json_of(R"({"spec": {"volumes": [)" + volumes + "]}}"));
    };
    CHECK(with(128).claims.size() == 128);
    CHECK(with(128).unfit_reasons.empty());

    Pod more = with(129);
    CHECK(more.claims.empty());
    REQUIRE(more.unfit_reasons.size() == 1);
    CHECK(more.unfit_reasons.front() == "it has more than 128 volume claims");
}

TEST_CASE("an owner whose words are longer than any object's is none")
{
    auto owner_with = [](std::size_t length) {
        return pod_from(json_of(R"({"metadata": {"ownerReferences": [{
                   "apiVersion": "v1", "kind": "X", "name": "a", "uid": ")" +
                                std::string(length, 'u') +
                                R"(", "controller": true}]}})"))
            .owner;
    };
    CHECK(owner_with(253).uid.size() == 253);
    CHECK(owner_with(254) == OwnerRef{});
}
