// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/access.h"
#include "agent/daemon/access_watch.h"
#include "common/base/json.h"
#include "common/base/mailbox.h"
#include "tests/unit/fakes/tls_server.h"

#include <atomic>
#include <doctest/doctest.h>
#include <set>
#include <string>
#include <thread>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

std::string asked_words(const std::string &body)
{
    Json what = Json::parse(body)->at("spec/resourceAttributes");
    std::string text = what.text("verb") + " " + what.text("resource");
    if (std::string group = what.text("group"); !group.empty())
        text += "." + group;
    if (std::string sub = what.text("subresource"); !sub.empty())
        text += "/" + sub;
    return text;
}

// Allows all but these.
TlsServer::Handler refusing(std::set<std::string> refused)
{
    return [refused](const TlsServer::Request &request, TlsServer::Peer &peer) {
        bool allowed = !refused.contains(asked_words(request.body));
        peer.send(reply_text(201, std::string("{\"status\":{\"allowed\":") +
                                      (allowed ? "true" : "false") + "}}"));
    };
}

AccessReview review(TlsServer &server)
{
    Http http(server.endpoint());
    Conf conf;
    conf.batch_namespace = "jobs";
    conf.kube_token_file = "/token"; // renewed by the agent
    auto said = review_access(http, conf);
    REQUIRE(said.has_value());
    return *said;
}

} // namespace

TEST_CASE("every right of the table is asked once, as kubectl would name it")
{
    TlsServer server(refusing({}));

    CHECK(review(server).missing.empty());

    auto seen = server.requests();
    REQUIRE(seen.size() == needed_rights().size());
    std::set<std::string> words;
    for (std::size_t i = 0; i < seen.size(); i++) {
        CHECK(seen[i].method == "POST");
        CHECK(seen[i].target ==
              "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
        CHECK(asked_words(seen[i].body) == needed_rights()[i].words());
        CHECK(words.insert(needed_rights()[i].words()).second);
    }
}

TEST_CASE("nobody asks about batch jobs where there are none")
{
    TlsServer server(refusing({"create secrets"}));
    Http http(server.endpoint());

    auto said = review_access(http, {});

    REQUIRE(said.has_value());
    CHECK(said->missing.empty());
    CHECK(server.requests().size() < needed_rights().size());
}

TEST_CASE("for workers only the Lease is asked about")
{
    TlsServer server(refusing({}));
    Http http(server.endpoint());
    Conf conf;
    conf.schedule_pods = false;

    REQUIRE(review_access(http, conf).has_value());

    std::set<std::string> words;
    for (const auto &request : server.requests())
        words.insert(asked_words(request.body));
    CHECK(words == std::set<std::string>{"get leases.coordination.k8s.io",
                                         "update leases.coordination.k8s.io",
                                         "create leases.coordination.k8s.io"});
}

TEST_CASE("the right to renew the token is asked about if k8s.conf names one")
{
    for (const Right &right : needed_rights()) {
        if (right.feature != Feature::token_renewal)
            continue;
        Conf conf;
        CHECK_FALSE(is_needed(right, conf));
        conf.kube_token_file = "/token";
        CHECK(is_needed(right, conf));
        conf.schedule_pods = false;
        CHECK(is_needed(right, conf));
    }
}

TEST_CASE("batch jobs are asked about in their namespace, the Lease and the "
          "ServiceAccount where they are, everything else everywhere")
{
    Conf conf;
    conf.lease_namespace = "ns1";
    conf.lease_name = "lease1";
    conf.batch_namespace = "jobs";
    int named = 0, in_namespace = 0;

    for (const Right &right : needed_rights()) {
        Json what = Json::parse(access_review_body(right, conf))
                        ->at("spec/resourceAttributes");
        bool lease = std::string(right.resource) == "leases";
        bool batch = right.feature == Feature::sbatch ||
                     right.feature == Feature::sbatch_srun;
        bool own = right.feature == Feature::token_renewal;
        CHECK(what.text("namespace") == (lease   ? "ns1"
                                         : batch ? "jobs"
                                         : own   ? "slurm-k8s-bridge"
                                                 : ""));
        CHECK((what.text("name") == "slurmk8sd") == own);
        in_namespace += what.at("namespace").present() && !batch;
        named += what.text("name") == "lease1";
    }

    CHECK(named == 2); // get and update; what is created has no name yet
    CHECK(in_namespace == 4);
}

TEST_CASE("one missing verb turns its feature off, and no other")
{
    TlsServer server(refusing({"patch nodes", "get jobs.batch"}));

    AccessReview found = review(server);

    CHECK(found.may(Feature::base));
    CHECK(found.may(Feature::volumes));
    CHECK_FALSE(found.may(Feature::nodes_patch));
    CHECK_FALSE(found.may(Feature::owners));
    CHECK(found.missing_rights(Feature::nodes_patch) == "patch nodes");
    CHECK(found.missing_rights(Feature::volumes).empty());
}

TEST_CASE("without the status of scheduler-plugins' PodGroups they make gangs")
{
    TlsServer server(refusing({"patch podgroups.scheduling.x-k8s.io/status"}));

    AccessReview found = review(server);

    CHECK(found.may(Feature::pod_groups));
    CHECK_FALSE(found.may(Feature::pod_group_status));
    CHECK(access_news(found)
              .off.at("pod-group-status")
              .contains("contribs/kubernetes/components/pod-groups gives it"));
}

TEST_CASE("without rights to Services and ConfigMaps batch jobs are Pods all "
          "the same")
{
    TlsServer server(refusing({"get services", "create configmaps"}));

    AccessReview found = review(server);

    CHECK(found.may(Feature::sbatch));
    CHECK_FALSE(found.may(Feature::sbatch_srun));
    CHECK(found.missing_rights(Feature::sbatch_srun) ==
          "get services, create configmaps");
    CHECK(access_news(found)
              .off.at("sbatch-srun")
              .contains("contribs/kubernetes/components/sbatch gives it"));
}

TEST_CASE("an answer that is none tells nothing")
{
    for (auto [status, body] : {std::pair{201, "{}"},
                                {201, "no JSON"},
                                {403, "{}"},
                                {503, "{}"},
                                {201, "{\"status\":{}}"}}) {
        TlsServer server(
            [=](const TlsServer::Request &, TlsServer::Peer &peer) {
                peer.send(reply_text(status, body));
            });
        Http http(server.endpoint());
        CHECK_FALSE(review_access(http, {}).has_value());
    }
}

TEST_CASE("until the API server has answered only the base may act")
{
    Access access;

    CHECK(access.may(Feature::base));
    CHECK_FALSE(access.may(Feature::nodes_patch));
    access.set({{{Feature::base, "list", "", "pods"}}});
    CHECK_FALSE(access.may(Feature::base));
    CHECK(access.may(Feature::nodes_patch));
    for (Feature feature : all_features)
        CHECK(Access::unlimited().may(feature));
}

TEST_CASE("a thread waits until its feature is allowed, or it is stopped")
{
    Access access;
    Mailbox<bool> answers;
    auto wait = [&](std::stop_token stop) {
        answers.push(access.wait_until_may(Feature::volumes, stop));
    };

    std::jthread stopped(wait);
    stopped.request_stop();
    auto first = answers.pop_until(std::chrono::steady_clock::now() + 10s);
    std::jthread allowed(wait);
    access.set({});
    auto second = answers.pop_until(std::chrono::steady_clock::now() + 10s);

    CHECK(first == false);
    CHECK(second == true);
}

TEST_CASE("what the base lacks is a problem, what a component lacks is not")
{
    AccessReview found;
    CHECK(access_news(found) == AccessNews{});
    found.missing = {{Feature::base, "list", "", "pods"},
                     {Feature::base, "patch", "", "pods", "status"},
                     {Feature::owners, "get", "batch", "jobs"}};

    AccessNews news = access_news(found);

    CHECK(news.problem == "slurmk8sd may not list pods, patch pods/status; "
                          "\"kubectl apply -k contribs/kubernetes\" gives it");
    CHECK(news.off.size() == 1);
    CHECK(news.off["owners"] ==
          "slurmk8sd may not get jobs.batch; "
          "contribs/kubernetes/components/owners gives it");
    CHECK(access_news(fail(Code::busy, "nobody answers")).problem ==
          "nobody answers");
}

TEST_CASE("the watch tells what it found, and ends at once")
{
    TlsServer server(refusing({"patch nodes"}));
    Access access;
    Mailbox<AccessNews> news;

    {
        AccessWatch watch(server.endpoint(), {}, access,
                          [&](AccessNews n) { news.push(std::move(n)); });
        auto told = news.pop_until(std::chrono::steady_clock::now() + 20s);
        REQUIRE(told.has_value());
        CHECK(told->problem.empty());
        CHECK(told->off.contains("nodes-patch"));
    }

    CHECK_FALSE(access.may(Feature::nodes_patch));
    CHECK(access.may(Feature::owners));
}
