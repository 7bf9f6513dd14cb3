// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/worker_pod.h"
#include "tests/unit/operator/make.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

Json pod_of(const NodeSet &set, std::uint32_t ordinal = 0)
{
    return json(worker_pod(set, external_controller(), slot_of(set, ordinal)));
}

std::string args_of(const Json &pod)
{
    return pod.at("spec/containers/0/args").dump();
}

} // namespace

TEST_CASE("a slurmd Pod has all that slurmd needs, and no token")
{
    Json pod = pod_of(node_set(3), 2);
    CHECK(pod.text("metadata/name") == "w-2");
    CHECK(pod.text("metadata/namespace") == "ns");
    CHECK(pod.text("spec/hostname") == "w-2");
    CHECK(pod.text("spec/subdomain") == "slurm-workers-slurm");
    CHECK(pod.at("spec/automountServiceAccountToken").dump() == "false");
    CHECK(pod.flag("spec/shareProcessNamespace"));
    CHECK(args_of(pod) == R"(["-D","-Z","--conf-server","ctl:6817","--conf",)"
                          R"("CPUs=2 RealMemory=1000 Port=6818 Feature=w"])");
    CHECK(pod.at("spec/containers/0/securityContext/capabilities").dump() ==
          R"({"drop":["ALL"],"add":["SETUID","SETGID","CHOWN","KILL"]})");
    CHECK(pod.text("spec/volumes/0/projected/sources/0/secret/name") == "keys");
    CHECK(pod.text("metadata/ownerReferences/0/uid") == "w-uid");
    CHECK(pod.flag("metadata/ownerReferences/0/controller"));
    CHECK_FALSE(pod.flag("metadata/ownerReferences/0/blockOwnerDeletion"));
    CHECK(pod.at("spec/affinity/podAntiAffinity").present());
}

TEST_CASE("the template adds to it, but does not take over")
{
    Json pod = pod_of(node_set(3, R"(, "ordinalPadding": 3,
        "oversubscribeNode": true, "template": {"metadata": {
        "labels": {"app.kubernetes.io/name": "mine", "team": "blue",
                   "nodeset.slinky.slurm.net/pod-protect": "true"},
        "annotations": {"slurmk8s/worker-request": "drain 1", "a": "b"}},
        "spec": {"hostname": "web-", "nodeName": "node7", "subdomain": "mine",
        "automountServiceAccountToken": true, "imagePullSecrets": null,
        "containers": [{"name": "beside", "image": "x"},
                       {"name": "slurmd", "env": [{"name": "A"}]}],
        "volumes": [{"name": "data", "emptyDir": {}}]}})"),
                      7);
    CHECK(pod.text("metadata/name") == "w-007");
    CHECK(pod.text("spec/hostname") == "web-007");
    CHECK(pod.text("spec/subdomain") == "slurm-workers-slurm");
    CHECK_FALSE(pod.flag("spec/automountServiceAccountToken"));
    CHECK_FALSE(pod.at("spec/nodeName").present());
    auto labels = pod.texts("metadata/labels");
    CHECK(labels["app.kubernetes.io/name"] == "slurmd");
    CHECK(labels["team"] == "blue");
    CHECK_FALSE(labels.contains(names::protect_label));
    CHECK(labels[names::worker_index_label] == "007");
    auto annotations = pod.texts("metadata/annotations");
    CHECK(annotations["a"] == "b");
    CHECK_FALSE(annotations.contains(names::worker_request_annotation));
    CHECK(pod.items("spec/containers").size() == 2);
    CHECK(pod.text("spec/containers/0/env/0/name") == "A");
    CHECK(pod.items("spec/volumes").size() == 2);
    CHECK_FALSE(pod.at("spec/affinity").present());
}

TEST_CASE(
    "a Pod is ready when its slurmd is registered, and drained before it ends")
{
    Json spec = pod_of(node_set(1)).at("spec");
    CHECK(spec.at("readinessGates").dump() ==
          R"([{"conditionType":"slurmk8s/Registered"}])");
    CHECK(spec.at("containers/0/lifecycle").dump() ==
          R"({"preStop":{"sleep":{"seconds":3}}})");
    spec = pod_of(node_set(1, R"(, "template": {"spec": {"readinessGates": [
        {"conditionType": "a/b"}, {"conditionType": "slurmk8s/Registered"}],
        "terminationGracePeriodSeconds": 2}})"))
               .at("spec");
    CHECK(
        spec.at("readinessGates").dump() ==
        R"([{"conditionType":"slurmk8s/Registered"},{"conditionType":"a/b"}])");
    CHECK(spec.integer("containers/0/lifecycle/preStop/sleep/seconds") == 1);
    for (const char *grace : {"0", "1", "-5"})
        CHECK_FALSE(pod_of(node_set(1, std::string(R"(, "template": {"spec":
                    {"terminationGracePeriodSeconds": )") +
                                           grace + "}}"))
                        .at("spec/containers/0/lifecycle")
                        .present());
    NodeSet set = node_set(1);
    set.spec = json(R"({"slurmd": {"image": "x", "lifecycle": {"preStop":
                    {"exec": {"command": ["a"]}}}}})");
    CHECK(pod_of(set).at("spec/containers/0/lifecycle").dump() ==
          R"({"preStop":{"exec":{"command":["a"]}}})");
}

TEST_CASE("privileged is a site's choice, and the API server has to take it")
{
    NodeSet set = node_set(1);
    set.spec =
        json(R"({"slurmd": {"image": "x", "name": "other", "securityContext":
                    {"privileged": true}}})");
    Json pod = pod_of(set);
    CHECK(pod.text("spec/containers/0/name") == "slurmd");
    CHECK(pod.at("spec/containers/0/securityContext").dump() ==
          R"({"privileged":true})");
}

TEST_CASE("an IPv6 address of slurmctld has brackets")
{
    Controller controller = external_controller();
    controller.host = "fd00::1";
    NodeSet set = node_set(1);
    Json pod = json(worker_pod(set, controller, slot_of(set, 0)));
    CHECK(args_of(pod).contains(R"("[fd00::1]:6817")"));
}

TEST_CASE("the revision follows what Pods are made of, and nothing else")
{
    Controller controller = external_controller();
    std::string first = revision_of(node_set(1), controller);
    CHECK(first.size() == 16);
    CHECK(revision_of(node_set(5), controller) == first);
    CHECK(revision_of(node_set(1, R"(, "pinToNode": true)"), controller) ==
          first);
    CHECK(revision_of(node_set(1, R"(, "extraConf": "Weight=2")"),
                      controller) != first);
    CHECK(revision_of(node_set(1, R"(, "template": {"metadata": {"labels":
                      {"a": "b"}}})"),
                      controller) != first);
    controller.port = 7000;
    CHECK(revision_of(node_set(1), controller) != first);
}
