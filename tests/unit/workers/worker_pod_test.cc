// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/worker_api.h"
#include "agent/workers/worker_pod.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace bridge;

namespace {

constexpr char text[] = R"({
  "metadata": {
    "namespace": "slurm", "name": "set-slinky-0", "uid": "u1",
    "labels": {"nodeset.slinky.slurm.net/pod-protect": "true",
      "slinky.slurm.net/cluster": "east"},
    "annotations": {
      "nodeset.slinky.slurm.net/pod-cordon": "true",
      "nodeset.slinky.slurm.net/pod-deadline": "2026-11-24T12:00:00Z",
      "slurmk8s/worker-request": "drain 3"},
    "ownerReferences": [{"apiVersion": "slinky.slurm.net/v1beta1",
      "kind": "NodeSet", "name": "set", "uid": "u0", "controller": true}]},
  "spec": {"hostname": "slinky-0", "nodeName": "n1"},
  "status": {"phase": "Running", "podIP": "10.0.0.7",
    "podIPs": [{"ip": "10.0.0.7"}, {"ip": "fd00::7"}], "conditions": [
    {"type": "Ready", "status": "True"},
    {"type": "SlurmNodeStateIdle", "status": "True", "reason": "r",
     "message": "m"}]}
})";

WorkerPod worker()
{
    auto pod = worker_from(*Json::parse(text));
    REQUIRE(pod);
    return *pod;
}

std::string without(std::string all, const std::string &part)
{
    return all.replace(all.find(part), part.size(), "");
}

} // namespace

TEST_CASE("worker Pod: what the agent needs is read")
{
    WorkerPod pod = worker();
    CHECK(pod.key.str() == "slurm/set-slinky-0");
    CHECK(pod.uid == "u1");
    CHECK(pod.controller == "east");
    CHECK(pod.slurm_node == "slinky-0");
    CHECK(pod.addresses == std::vector<std::string>{"10.0.0.7", "fd00::7"});
    CHECK(pod.placed);
    CHECK(pod.request == WorkerRequest{3, true});
    CHECK(pod.cordoned);
    CHECK(pod.protect == "true");
    CHECK(pod.deadline == "2026-11-24T12:00:00Z");
    CHECK(pod.conditions.size() == 1);
    CHECK(pod.conditions.at("SlurmNodeStateIdle") ==
          WorkerCondition{"True", "r", "m"});
    CHECK_FALSE(pod.over);
    CHECK_FALSE(pod.ending);
}

TEST_CASE("worker Pod: without a hostname slurmd has the Pod's name")
{
    auto json = Json::parse(without(text, R"("hostname": "slinky-0", )"));
    CHECK(worker_from(*json)->slurm_node == "set-slinky-0");
}

TEST_CASE("worker Pod: a Pod that no NodeSet controls is none")
{
    CHECK_FALSE(
        worker_from(*Json::parse(without(text, R"(, "controller": true)"))));
    std::string other = text;
    other.replace(other.find("slinky.slurm.net/v1beta1"), 24,
                  "slinky.slurm.net.example/v1");
    CHECK_FALSE(worker_from(*Json::parse(other)));
    CHECK_FALSE(worker_from(Json()));
    std::string beside = text; // it has the address of its Node
    beside.replace(beside.find("\"nodeName\""), 0, "\"hostNetwork\": true, ");
    CHECK_FALSE(worker_from(*Json::parse(beside)));
}

TEST_CASE("worker Pod: the patch has the uid, and only what changes")
{
    using std::chrono::system_clock;
    WorkerPatch patch;
    CHECK(patch.empty());
    patch.conditions["SlurmNodeStateIdle"] = {"True", "r", "other"};
    patch.conditions["slurmk8s/Registered"] = {"True", "Registered", ""};
    patch.protect = "";
    auto body = Json::parse(
        worker_patch_body(worker(), patch, system_clock::time_point{}));
    REQUIRE(body);
    CHECK(body->text("metadata/uid") == "u1");
    CHECK_FALSE(body->at("metadata/annotations").present());
    Json labels = body->at("metadata/labels");
    CHECK(labels.dump() == R"({"nodeset.slinky.slurm.net/pod-protect":null})");
    auto conditions = body->items("status/conditions");
    REQUIRE(conditions.size() == 2);
    CHECK(conditions[0].text("message") == "other");
    // It has been True before: the time of the change stays.
    CHECK_FALSE(conditions[0].at("lastTransitionTime").present());
    CHECK(conditions[1].text("lastTransitionTime") == "1970-01-01T00:00:00Z");
}

TEST_CASE("worker Pod: what protects it says so to autoscalers, but where "
          "somebody else has said something to them")
{
    auto annotations = [](const WorkerPod &pod, const char *protect,
                          bool marks = true) {
        WorkerPatch patch;
        patch.protect = protect;
        auto body = Json::parse(worker_patch_body(
            pod, patch, std::chrono::system_clock::time_point{}, marks));
        REQUIRE(body);
        Json found = body->at("metadata/annotations");
        return found.present() ? found.dump() : std::string();
    };
    WorkerPod pod;
    CHECK(annotations(pod, "true") ==
          R"({"karpenter.sh/do-not-disrupt":"true",)"
          R"("cluster-autoscaler.kubernetes.io/safe-to-evict":"false",)"
          R"("slurmk8s/busy":"karpenter.sh/do-not-disrupt,)"
          R"(cluster-autoscaler.kubernetes.io/safe-to-evict"})");
    CHECK(annotations(pod, "true", false).empty()); // an older policy
    CHECK(annotations(pod, "").empty());

    pod.autoscaler_marks = {"karpenter.sh/do-not-disrupt",
                            "cluster-autoscaler.kubernetes.io/safe-to-evict"};
    CHECK(annotations(pod, "true").empty());
    CHECK(annotations(pod, "").empty());
    pod.own_marks = "cluster-autoscaler.kubernetes.io/safe-to-evict";
    CHECK(annotations(pod, "true") ==
          R"({"cluster-autoscaler.kubernetes.io/safe-to-evict":"false",)"
          R"("slurmk8s/busy":)"
          R"("cluster-autoscaler.kubernetes.io/safe-to-evict"})");
    CHECK(annotations(pod, "") ==
          R"({"cluster-autoscaler.kubernetes.io/safe-to-evict":null,)"
          R"("slurmk8s/busy":null})");
}
