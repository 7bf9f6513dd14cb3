// SPDX-License-Identifier: GPL-2.0-or-later
// The bodies are compared with requests that a real API server took.
#include "agent/calls/kube_bodies.h"
#include "tests/unit/fakes/test_data.h"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

Pod make_pod()
{
    Pod pod;
    pod.key = {"a", "train-0"};
    pod.uid = "u-1";
    pod.generation = 1;
    return pod;
}

const WallTime ten =
    std::chrono::sys_days(std::chrono::year(2026) / 8 / 20) + 10h + 123456789ns;

} // namespace

TEST_CASE("a binding has uid, labels and annotations in the one request")
{
    CHECK(
        binding_body(make_pod(), {"n1", {{"p.q/job", "8"}}, {{"x/y", "z"}}}) ==
        R"({"apiVersion":"v1","kind":"Binding","metadata":)"
        R"({"name":"train-0","namespace":"a","uid":"u-1",)"
        R"("labels":{"p.q/job":"8"},"annotations":{"x/y":"z"}},)"
        R"("target":{"apiVersion":"v1","kind":"Node","name":"n1"}})");
}

TEST_CASE("a condition names the uid and says when it turned False")
{
    Pod pod = make_pod();
    const std::string begin =
        R"({"metadata":{"uid":"u-1"},"status":{"conditions":[)"
        R"({"type":"PodScheduled","status":"False","reason":"Unschedulable",)"
        R"("message":"why","observedGeneration":1)";

    const PodWait wait{"Unschedulable", "why"};

    CHECK(unscheduled_body(pod, wait, ten) ==
          begin + R"(,"lastTransitionTime":"2026-08-20T10:00:00Z"}]}})");
    pod.scheduled.status = "False"; // it was False before
    CHECK(unscheduled_body(pod, wait, ten) == begin + "}]}}");
}

TEST_CASE("a nominated node is written when it changes, and taken back")
{
    Pod pod = make_pod();
    auto status_of = [&](const std::string &node) {
        return json_of(unscheduled_body(pod, {"Allocated", "why", node}, ten))
            .at("status");
    };
    CHECK(status_of("n1").text("nominatedNodeName") == "n1");
    CHECK_FALSE(status_of("").at("nominatedNodeName").present());

    pod.nominated_node = "n1";

    CHECK_FALSE(status_of("n1").at("nominatedNodeName").present());
    CHECK(unscheduled_body(pod, {"Resources", "why"}, ten)
              .contains(R"("nominatedNodeName":null)"));
}

TEST_CASE("a Pod is failed only as it was read")
{
    Pod pod = make_pod();
    pod.resource_version = "77";

    Json body = json_of(failed_body(pod, "SlurmJobCancelled", "why", ten));

    CHECK(body.text("metadata/uid") == "u-1");
    CHECK(body.text("metadata/resourceVersion") == "77");
    CHECK(body.text("status/phase") == "Failed");
    CHECK(body.text("status/reason") == "SlurmJobCancelled");
    CHECK(body.text("status/message") == "why");
    CHECK(body.text("status/conditions/0/type") == "PodScheduled");
}

TEST_CASE("an Event has what the API server demands")
{
    PodEvent event{PodEvent::Type::normal, "Scheduled", "Binding",
                   "Successfully assigned a/train-0 to node7"};

    CHECK(event_body(make_pod(), event, {"slurm", "slurm-host1"}, ten,
                     0x184f2a7c9d3e0b51) ==
          R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":)"
          R"({"name":"train-0.184f2a7c9d3e0b51","namespace":"a"},)"
          R"("eventTime":"2026-08-20T10:00:00.123456Z",)"
          R"("reportingController":"slurm","reportingInstance":"slurm-host1",)"
          R"("action":"Binding","reason":"Scheduled","type":"Normal",)"
          R"("regarding":{"apiVersion":"v1","kind":"Pod","namespace":"a",)"
          R"("name":"train-0","uid":"u-1"},)"
          R"("note":"Successfully assigned a/train-0 to node7"})");
}

TEST_CASE("long names and notes of an Event are cut to what is allowed")
{
    for (std::size_t dot : {0, 233, 234, 235, 236, 252}) {
        CAPTURE(dot);
        Pod pod = make_pod();
        pod.key.name = std::string(253, 'x');
        if (dot > 0)
            pod.key.name[dot] = '.';
        PodEvent event{PodEvent::Type::warning, std::string(500, 'r'),
                       std::string(500, 'a'),
                       std::string(1023, 'n') + "\xc3\xa4"};

        Json body = json_of(
            event_body(pod, event, {"slurm", std::string(500, 'i')}, ten, 1));

        std::string name = body.text("metadata/name");
        CHECK(name.size() <= 253);
        CHECK(name.ends_with("x.0000000000000001"));
        CHECK(body.text("note") == std::string(1023, 'n'));
        CHECK(body.text("reason").size() == 128);
        CHECK(body.text("action").size() == 128);
        CHECK(body.text("reportingInstance").size() == 128);
        CHECK(body.text("type") == "Warning");
    }
}

TEST_CASE("text of users cannot break out of a body")
{
    Pod pod = make_pod();
    const std::string evil = "\"},{\"\n\x01\xff\\";

    Json body = json_of(stamp_body(pod, {}, {{"a/b", evil}}));

    CHECK(body.at("metadata/annotations").member("a/b").text() ==
          "\"},{\"\n\x01?\\");
    CHECK(delete_options_body(pod.uid) ==
          R"({"apiVersion":"v1","kind":"DeleteOptions",)"
          R"("preconditions":{"uid":"u-1"}})");
    CHECK(delete_options_body(pod.uid, "4\"2") ==
          R"({"apiVersion":"v1","kind":"DeleteOptions",)"
          R"("preconditions":{"uid":"u-1","resourceVersion":"4\"2"}})");
    CHECK(pod_path({"n/s", "p?d"}) == "/api/v1/namespaces/n%2Fs/pods/p%3Fd");
}

TEST_CASE("a deletion with a grace period is never one by force")
{
    Pod pod = make_pod();
    using std::chrono::seconds;

    CHECK(json_of(delete_within_body("u-1", seconds(30)))
              .integer("gracePeriodSeconds") == 30);
    CHECK(json_of(delete_within_body("u-1", seconds(0)))
              .integer("gracePeriodSeconds") == 1);
    CHECK(json_of(delete_within_body("u-1", seconds(30)))
              .text("preconditions/uid") == "u-1");
    Json eviction = json_of(evict_body(pod, seconds(7)));
    CHECK(eviction.integer("deleteOptions/gracePeriodSeconds") == 7);
    CHECK(eviction.text("deleteOptions/preconditions/uid") == "u-1");
}

TEST_CASE("a patch of a Node names what it was made for, and nothing else")
{
    NodePatch patch{"n1", "uid", "7", true, {}, {}};
    patch.annotations["slurmk8s/cordoned"] = "DRAIN: \"disk\"";
    patch.annotations["slurmk8s/uncordoned"] = std::nullopt;
    CHECK(node_body(patch) ==
          R"({"metadata":{"uid":"uid","resourceVersion":"7","annotations":)"
          R"({"slurmk8s/cordoned":"DRAIN: \"disk\"",)"
          R"("slurmk8s/uncordoned":null}},"spec":{"unschedulable":true}})");

    NodePatch back{"n1", "uid", "7", false, {}, {}};
    back.taints = {{"a", "b", "NoExecute", "2026-01-01T00:00:00Z"},
                   {"c", "", "NoSchedule", ""}};
    CHECK(node_body(back) ==
          R"({"metadata":{"uid":"uid","resourceVersion":"7"},"spec":)"
          R"({"unschedulable":null,"taints":[{"key":"a","effect":"NoExecute",)"
          R"("value":"b","timeAdded":"2026-01-01T00:00:00Z"},)"
          R"({"key":"c","effect":"NoSchedule"}]}})");
}

TEST_CASE("an Event about a Node is found by the Node's name, in default")
{
    Node node;
    node.name = "n1";
    std::string body = node_event_body(
        node, {PodEvent::Type::warning, "SlurmNodeRefused", "Registering", "x"},
        {"slurmk8sd", "host"}, {}, 1);
    CHECK(body.contains(R"("namespace":"default")"));
    CHECK(body.contains(
        R"("regarding":{"apiVersion":"v1","kind":"Node","name":"n1","uid":"n1"})"));
}

TEST_CASE("the claim of extended resources is named as kube-scheduler names it")
{
    Pod pod = make_pod();
    CHECK(
        extended_claim_body(
            pod, {"extres-extended-resources-bdmpr",
                  {{"main", "example.com/gpu", "container-0-request-1"}}}) ==
        R"({"metadata":{"uid":"u-1"},"status":{"extendedResourceClaimStatus":)"
        R"({"requestMappings":[{"containerName":"main",)"
        R"("requestName":"container-0-request-1",)"
        R"("resourceName":"example.com/gpu"}],)"
        R"("resourceClaimName":"extres-extended-resources-bdmpr"}}})");
    CHECK(delete_options_body("u-2") ==
          R"({"apiVersion":"v1","kind":"DeleteOptions",)"
          R"("preconditions":{"uid":"u-2"}})");
}
