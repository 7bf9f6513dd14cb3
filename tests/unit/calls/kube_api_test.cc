// SPDX-License-Identifier: GPL-2.0-or-later
// What KubeApi makes of answers that a healthy server rarely gives; the rest
// is in tests/unit/fakes/kube_contract.cc.
#include "agent/calls/kube_api.h"
#include "tests/unit/fakes/test_data.h"
#include "tests/unit/fakes/tls_server.h"

#include <utility>
#include <vector>

using namespace bridge;

namespace {

using Script = std::vector<TlsServer::Handler>; // one a request
constexpr char uid[] = "9ac938f3";

TlsServer::Handler replies(int status, const std::string &body = "{}")
{
    return [=](const TlsServer::Request &, TlsServer::Peer &peer) {
        peer.send(reply_text(status, body));
    };
}

void cuts(const TlsServer::Request &, TlsServer::Peer &peer)
{
    peer.cut();
}

std::string pod_json(const std::string &its_uid, const std::string &node)
{
    return R"({"metadata": {"uid": ")" + its_uid +
           R"("}, "spec": {"nodeName": ")" + node + "\"}}";
}

struct Stage {
    explicit Stage(Script lines)
        : script(std::move(lines)),
          server([this](const TlsServer::Request &r, TlsServer::Peer &p) {
              script[std::min(next++, script.size() - 1)](r, p);
          }),
          kube(server.endpoint(), gate, "slurm", "slurm-host1")
    {
        pod.key = {"ns", "web-0"};
        pod.uid = uid;
    }

    Script script;
    std::atomic<std::size_t> next = 0;
    TlsServer server;
    WriteGate gate{[] { return Result<>(); }, {}};
    KubeApi kube;
    Pod pod;
};

Code code_of(const Result<> &said)
{
    REQUIRE(!said.has_value());
    return said.error().code;
}

} // namespace

TEST_CASE("a binding whose outcome is unknown is looked up")
{
    struct {
        const char *what;
        TlsServer::Handler post;
        TlsServer::Handler get;
        std::optional<Code> code; // none: success
    } const table[] = {
        {"cut, and done", cuts, replies(200, pod_json(uid, "n1")), {}},
        {"cut, and not done", cuts, replies(200, pod_json(uid, "")),
         Code::busy},
        {"cut, and elsewhere", cuts, replies(200, pod_json(uid, "n2")),
         Code::conflict},
        {"cut, and another Pod", cuts, replies(200, pod_json("x", "n1")),
         Code::conflict},
        {"cut, and no Pod", cuts, replies(404), Code::not_found},
        {"cut, and no answer", cuts, cuts, Code::uncertain},
        {"cut, and nonsense", cuts, replies(200, "<html>"), Code::uncertain},
        {"already there", replies(409), replies(200, pod_json(uid, "n1")), {}},
        {"it is being deleted", replies(409), replies(200, pod_json(uid, "")),
         Code::conflict},
        {"already elsewhere", replies(409), replies(200, pod_json(uid, "n2")),
         Code::conflict},
        {"504, and done", replies(504), replies(200, pod_json(uid, "n1")), {}},
        {"500, and not done", replies(500), replies(200, pod_json(uid, "")),
         Code::busy},
        {"500, and no answer", replies(500), replies(500), Code::uncertain},
    };
    for (const auto &row : table) {
        CAPTURE(row.what);
        Stage stage({row.post, row.get});

        auto said = stage.kube.bind(stage.pod, {"n1", {}, {}});

        CHECK(stage.server.requests().size() == 2);
        CHECK(said.has_value() == !row.code.has_value());
        if (row.code)
            CHECK(code_of(said) == *row.code);
    }
}

TEST_CASE("a binding that was refused is not looked up")
{
    struct {
        int status;
        Code code;
    } const table[] = {{400, Code::rejected},
                       {403, Code::denied},
                       {404, Code::not_found},
                       {429, Code::busy}};
    for (auto [status, code] : table) {
        CAPTURE(status);
        Stage stage({replies(status, R"({"message": "so it is"})")});

        auto said = stage.kube.bind(stage.pod, {"n1", {}, {}});

        CHECK(code_of(said) == code);
        CHECK(said.error().message == "bind Pod=ns/web-0: HTTP " +
                                          std::to_string(status) +
                                          ": so it is");
        CHECK(stage.server.requests().size() == 1);
    }
}

TEST_CASE("a label that would poison the Pod never leaves us")
{
    Stage stage({replies(201)});

    CHECK(code_of(stage.kube.bind(stage.pod, {"n1", {{"a", "b c"}}, {}})) ==
          Code::rejected);
    stage.pod.uid.clear();
    CHECK(code_of(stage.kube.bind(stage.pod, {"n1", {}, {}})) ==
          Code::internal);
    CHECK(stage.server.requests().empty());
}

TEST_CASE("each call goes where the API has it, as it wants it")
{
    Stage stage({replies(200)});
    Kube &kube = stage.kube;

    CHECK(kube.bind(stage.pod, {"n1", {}, {}}).has_value());
    CHECK(kube.set_unscheduled(stage.pod, {"R", "m"}).has_value());
    CHECK(kube.fail_pod(stage.pod, "R", "m").has_value());
    CHECK(kube.stamp(stage.pod, {}, {{"a/b", "v"}}).has_value());
    CHECK(kube.delete_pod(stage.pod).has_value());
    CHECK(kube.get_pod(stage.pod.key).has_value());
    CHECK(kube.post_event(stage.pod, {}).has_value());

    const std::string path = "/api/v1/namespaces/ns/pods/web-0";
    const std::string json = "Content-Type: application/json";
    const std::string patch =
        "Content-Type: application/strategic-merge-patch+json";
    const std::string calls[][3] = {
        {"POST", path + "/binding", json},
        {"PATCH", path + "/status", patch},
        {"PATCH", path + "/status", patch},
        {"PATCH", path, patch},
        {"DELETE", path, json},
        {"GET", path, "Accept: application/json"},
        {"POST", "/apis/events.k8s.io/v1/namespaces/ns/events", json},
    };
    auto seen = stage.server.requests();
    REQUIRE(seen.size() == std::size(calls));
    for (std::size_t i = 0; i < seen.size(); i++) {
        CHECK(seen[i].method == calls[i][0]);
        CHECK(seen[i].target == calls[i][1]);
        CHECK(seen[i].has(calls[i][2]));
    }
    CHECK(stage.server.connections() == 1);
}

TEST_CASE("what is true already is not written")
{
    Stage stage({replies(200)});
    stage.pod.scheduled = {"False", "Unschedulable", "why"};

    CHECK(stage.kube.set_unscheduled(stage.pod, {"Unschedulable", "why"})
              .has_value());
    CHECK(stage.server.requests().empty());
    stage.pod.node_name = "n1";
    CHECK(code_of(stage.kube.fail_pod(stage.pod, "R", "m")) == Code::conflict);
    CHECK(stage.server.requests().empty());
}

TEST_CASE("a Pod that is gone, or another, needs no deletion")
{
    for (int status : {200, 202, 404}) {
        CAPTURE(status);
        Stage stage({replies(status)});
        CHECK(stage.kube.delete_pod(stage.pod).has_value());
    }
    Stage other({replies(409), replies(200, pod_json("another", ""))});
    CHECK(other.kube.delete_pod(other.pod).has_value());
    Stage gone({replies(409), replies(404)});
    CHECK(gone.kube.delete_pod(gone.pod).has_value());
    Stage refused({replies(403)});
    CHECK(code_of(refused.kube.delete_pod(refused.pod)) == Code::denied);
    Stage cut({cuts});
    CHECK(code_of(cut.kube.delete_pod(cut.pod)) == Code::uncertain);
}

TEST_CASE("a conflict does not mean that the Pod is gone")
{
    Stage there({replies(409), replies(200, pod_json(uid, "n1"))});
    CHECK(code_of(there.kube.delete_pod(there.pod)) == Code::conflict);
    Stage unknown({replies(409), replies(500)});
    CHECK(code_of(unknown.kube.delete_pod(unknown.pod)) == Code::conflict);
}

TEST_CASE("when the server wants to be asked again is told with the error")
{
    auto busy = [](int status) {
        return [=](const TlsServer::Request &, TlsServer::Peer &peer) {
            peer.send(reply_text(status, "{}", "Retry-After: 7\r\n"));
        };
    };
    using std::chrono::seconds;
    Stage stage({busy(429)});
    CHECK(stage.kube.bind(stage.pod, {"n1", {}, {}}).error().retry_after ==
          seconds(7));
    CHECK(stage.kube.stamp(stage.pod, {}, {{"a/b", "v"}}).error().retry_after ==
          seconds(7));
    Stage looked_up({busy(503), replies(200, pod_json(uid, ""))});
    CHECK(looked_up.kube.bind(looked_up.pod, {"n1", {}, {}})
              .error()
              .retry_after == seconds(7));
    Stage unknown({busy(503), replies(500)});
    CHECK(unknown.kube.bind(unknown.pod, {"n1", {}, {}}).error().retry_after ==
          seconds(7));
}

TEST_CASE("an Event that is there already was written")
{
    Stage there({replies(409)});
    CHECK(there.kube.post_event(there.pod, {}).has_value());
    Stage refused({replies(422)});
    CHECK(code_of(refused.kube.post_event(refused.pod, {})) == Code::rejected);
}

TEST_CASE("a 422 about the uid is a conflict")
{
    const char *uid_said =
        R"({"details": {"causes": [{"field": "metadata.uid"}]}})";
    Stage stage({replies(422, uid_said)});

    CHECK(code_of(stage.kube.set_unscheduled(stage.pod, {"R", "m"})) ==
          Code::conflict);
    CHECK(code_of(stage.kube.fail_pod(stage.pod, "R", "m")) == Code::conflict);
    CHECK(code_of(stage.kube.stamp(stage.pod, {}, {{"a", "b"}})) ==
          Code::conflict);
}

TEST_CASE("whether the API server keeps what is said of extended resources is "
          "read from its answer")
{
    Stage keeps({replies(200, R"({"status": {"extendedResourceClaimStatus":
        {"resourceClaimName": "c"}}})")});
    CHECK(keeps.kube.set_extended_claim(keeps.pod, {"c", {}}).value());
    Stage drops({replies(200, pod_json(uid, ""))});
    CHECK_FALSE(drops.kube.set_extended_claim(drops.pod, {"c", {}}).value());
    Stage gone({replies(404)});
    CHECK(gone.kube.set_extended_claim(gone.pod, {"c", {}}).error().code ==
          Code::not_found);
}

TEST_CASE("a claim that is made, and one that is deleted")
{
    Stage made({replies(201, R"({"metadata": {"name": "c", "namespace": "ns",
        "uid": "u"}})")});
    auto claim = made.kube.create_claim("ns", "{}");
    REQUIRE(claim.has_value());
    CHECK(claim->claim.key == ObjectKey{"ns", "c"});
    CHECK(claim->claim.uid == "u");
    Stage taken({replies(409)});
    CHECK(taken.kube.create_claim("ns", "{}").error().code == Code::conflict);
    // Gone, or another's by now.
    for (int status : {200, 404, 409}) {
        Stage stage({replies(status)});
        CHECK(stage.kube.delete_claim({"ns", "c"}, "u").has_value());
        CHECK(stage.server.requests().at(0).body.contains(R"("uid":"u")"));
    }
    Stage busy({replies(503)});
    CHECK(code_of(busy.kube.delete_claim({"ns", "c"}, "u")) == Code::busy);
}

TEST_CASE("Services and ConfigMaps say whether one was there, and what it is")
{
    Stage stage({replies(201), replies(409), replies(403), replies(404),
                 replies(200, R"({"immutable":true})")});
    ObjectKey key{"jobs", "job-7"};

    CHECK(stage.kube.create_service(key, "{}").has_value());
    CHECK(code_of(stage.kube.create_config_map(key, "{}")) == Code::conflict);
    CHECK(code_of(stage.kube.create_config_map(key, "{}")) == Code::denied);
    CHECK(stage.kube.get_service(key).error().code == Code::not_found);
    CHECK(stage.kube.get_config_map(key).value().flag("immutable"));

    auto seen = stage.server.requests();
    REQUIRE(seen.size() == 5);
    CHECK(seen[0].target == "/api/v1/namespaces/jobs/services");
    CHECK(seen[1].target == "/api/v1/namespaces/jobs/configmaps");
    CHECK(seen[3].target == "/api/v1/namespaces/jobs/services/job-7");
    CHECK(seen[4].target == "/api/v1/namespaces/jobs/configmaps/job-7");
}

TEST_CASE("whether a ConfigMap is the same object is said by its metadata")
{
    Stage stage({replies(200, R"({"metadata":{"uid":"u1"}})"), replies(404),
                 replies(401)});
    ObjectKey key{"jobs", "m"};

    CHECK(stage.kube.get_config_map_uid(key).value() == "u1");
    CHECK(stage.kube.get_config_map_uid(key).error().code == Code::not_found);
    CHECK(stage.kube.get_config_map_uid(key).error().code == Code::busy);

    auto asked = stage.server.requests().at(0);
    CHECK(asked.target == "/api/v1/namespaces/jobs/configmaps/m");
    CHECK(asked.has("Accept: application/json;as=PartialObjectMetadata;"
                    "g=meta.k8s.io;v=v1"));
}

TEST_CASE(
    "the addresses of Pods with a label are those that they have, on all pages")
{
    Stage stage(
        {replies(200,
                 R"({"kind":"PodList","metadata":{"continue":"a=b"},"items":[
        {"metadata":{"uid":"a"},"status":{"podIP":"10.0.0.1"}},
        {"metadata":{"uid":"b"},"status":{}}]})"),
         replies(200, R"({"kind":"PodList","items":[
        {"metadata":{"uid":"c"},"status":{"podIP":"fd00::1"}}]})")});

    auto found = stage.kube.addresses_of("jobs", "slurmk8s/gang", "job-7");

    REQUIRE(found.has_value());
    CHECK(*found == TextMap{{"a", "10.0.0.1"}, {"c", "fd00::1"}});
    auto seen = stage.server.requests();
    REQUIRE(seen.size() == 2);
    CHECK(seen[0].target == "/api/v1/namespaces/jobs/pods?limit=500"
                            "&labelSelector=slurmk8s%2Fgang%3Djob-7");
    CHECK(seen[1].target == seen[0].target + "&continue=a%3Db");
}

TEST_CASE("the Pods of a namespace are those on all pages")
{
    Stage stage({replies(200, R"({"kind":"PodList","metadata":
        {"continue":"a=b"},"items":[{"metadata":{"name":"a"}}]})"),
                 replies(200, R"({"kind":"PodList","items":[
        {"metadata":{"name":"b"}}]})")});

    auto found = stage.kube.list_pods("jobs");

    REQUIRE(found.has_value());
    REQUIRE(found->size() == 2);
    CHECK(found->back().key.name == "b");
    CHECK(stage.server.requests()[1].target ==
          "/api/v1/namespaces/jobs/pods?limit=500&continue=a%3Db");
}

TEST_CASE("the Pods with a label are asked for by it")
{
    Stage stage({replies(200, R"({"kind":"PodList","items":[
        {"metadata":{"name":"a"}}]})")});

    auto found = stage.kube.list_pods_with_label("jobs", "slurmk8s/gang");

    REQUIRE(found.has_value());
    REQUIRE(found->size() == 1);
    CHECK(stage.server.requests()[0].target ==
          "/api/v1/namespaces/jobs/pods?limit=500"
          "&labelSelector=slurmk8s%2Fgang");
}

TEST_CASE("what is no list of Pods is none")
{
    Stage stage({replies(200, R"({"kind":"Status","items":[]})")});

    CHECK(stage.kube.list_pods("jobs").error().code == Code::internal);
}

TEST_CASE("a part of the addresses is none")
{
    Stage stage(
        {replies(200, R"({"kind":"PodList","metadata":{"continue":"x"},"items":[
        {"metadata":{"uid":"a"},"status":{"podIP":"10.0.0.1"}}]})"),
         replies(410)});

    auto found = stage.kube.addresses_of("jobs", "slurmk8s/gang", "job-7");

    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().code == Code::gone);
}

TEST_CASE("a token that is not taken says nothing of what was asked")
{
    Stage stage({replies(401)});
    ObjectKey key{"jobs", "job-7"};

    CHECK(code_of(stage.kube.create_config_map(key, "{}")) == Code::busy);
    CHECK(code_of(stage.kube.create_service(key, "{}")) == Code::busy);
    CHECK(stage.kube.get_config_map(key).error().code == Code::busy);
    CHECK(stage.kube.get_service(key).error().code == Code::busy);
}
