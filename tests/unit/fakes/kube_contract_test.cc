// SPDX-License-Identifier: GPL-2.0-or-later
// The contract of kube_contract.h, held against the fake, and against a real
// API server where the environment of contribs/sandbox/env names one, with the
// agent's own token in KUBE_TEST_TOKEN_FILE; tests/integration does that.
#include "tests/unit/fakes/kube_contract.h"

#include "tests/unit/fakes/fake_kube.h"
#include "tests/unit/fakes/test_data.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace bridge;

namespace {

class FakePods : public PodFactory {
  public:
    explicit FakePods(FakeKube &kube) : kube_(kube) {}

    Pod make(const std::string &name) override
    {
        Pod pod;
        pod.key = {"default", name};
        return kube_.put(pod);
    }
    std::string node(int number) override
    {
        return "n" + std::to_string(number);
    }
    std::size_t events_of(const Pod &pod) override
    {
        std::size_t count = 0;
        for (const auto &[key, event] : kube_.events())
            count += key == pod.key;
        return count;
    }

  private:
    FakeKube &kube_;
};

std::string variable(const char *name)
{
    const char *value = std::getenv(name);
    return value ? value : "";
}

// Makes real Pods, as an administrator, in a namespace of its own.
class RealPods : public PodFactory {
  public:
    explicit RealPods(const HttpEndpoint &administrator) : http_(administrator)
    {
        auto nodes = ask(http_.get("/api/v1/nodes?limit=2"));
        for (const Json &node : nodes.items("items"))
            nodes_.push_back(node.text("metadata/name"));
        REQUIRE(nodes_.size() == 2);
        auto metadata = JsonValue::object({{"name", namespace_}});
        ask(http_.post("/api/v1/namespaces",
                       JsonValue::object({{"metadata", metadata}}).dump()));
        // Pods need their namespace's default account.
        while (http_.get(in_namespace("serviceaccounts/default"))->status !=
               200)
            ::usleep(20'000);
    }
    ~RealPods() override
    {
        static_cast<void>(
            http_.remove("/api/v1/namespaces/" + namespace_, "{}"));
    }

    Pod make(const std::string &name) override
    {
        std::string body = R"({"metadata": {"name": ")" + name +
                           R"("}, "spec": {"schedulerName": "slurm",
                "containers": [{"name": "main", "image": "none"}]}})";
        return pod_from(ask(http_.post(in_namespace("pods"), body)));
    }
    std::string node(int number) override
    {
        return nodes_.at(static_cast<std::size_t>(number));
    }
    std::size_t events_of(const Pod &pod) override
    {
        return ask(http_.get("/apis/events.k8s.io/v1/namespaces/" + namespace_ +
                             "/events?fieldSelector=" +
                             url_encode("regarding.name=" + pod.key.name)))
            .items("items")
            .size();
    }

  private:
    static Json ask(const Result<HttpReply> &reply)
    {
        REQUIRE(reply.has_value());
        auto said = check_status(*reply);
        REQUIRE_MESSAGE(said.has_value(), said.error().message);
        return json_of(reply->body);
    }
    std::string in_namespace(const std::string &what) const
    {
        return "/api/v1/namespaces/" + namespace_ + "/" + what;
    }

    Http http_;
    std::string namespace_ = "contract-" + std::to_string(::getpid());
    std::vector<std::string> nodes_;
};

} // namespace

TEST_CASE("the fake does what every Kube must do")
{
    FakeKube kube;
    FakePods pods(kube);

    kube_contract(kube, pods);
}

TEST_CASE("the real API server does what every Kube must do" *
          doctest::skip(variable("KUBE_TEST_TOKEN_FILE").empty()))
{
    HttpEndpoint agent{variable("SANDBOX_API"), variable("SANDBOX_CA"),
                       variable("KUBE_TEST_TOKEN_FILE")};
    HttpEndpoint administrator = agent;
    administrator.token_file = agent.token_file + ".administrator";
    std::ofstream(administrator.token_file) << variable("SANDBOX_TOKEN");
    WriteGate gate([] { return Result<>(); }, {});
    KubeApi kube(agent, gate, "slurm", "slurm-test");
    RealPods pods(administrator);

    kube_contract(kube, pods);

    std::filesystem::remove(administrator.token_file);
}

TEST_CASE("the fake fails as a test wants, and remembers")
{
    FakeKube kube;
    Pod pod;
    pod.key = {"ns", "p"};
    std::vector<std::string> seen;
    kube.on_change([&](const Pod &changed, bool deleted) {
        seen.push_back((deleted ? "-" : "+") + changed.node_name);
    });
    pod = kube.put(pod);
    kube.fail_next("bind", Code::busy);
    kube.lose_reply("bind");

    CHECK(kube.bind(pod, {"n", {}, {}}).error().code == Code::busy);
    CHECK(!kube.find(pod.key)->bound());
    CHECK(kube.bind(pod, {"n", {}, {}}).error().code == Code::uncertain);
    CHECK(kube.find(pod.key)->bound());
    CHECK(kube.delete_pod(pod).has_value());
    CHECK(kube.find(pod.key)->deleting); // its kubelet has not ended it
    CHECK(kube.erase(pod.key));

    CHECK(kube.count("bind") == 2);
    CHECK(kube.calls().back() == FakeKube::Call{"delete_pod", pod.key, ""});
    CHECK(seen == std::vector<std::string>{"+", "+n", "+n", "-n"});
}
