// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/group_watch.h"
#include "tests/unit/fakes/tls_server.h"

#include <atomic>
#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <vector>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

constexpr char resources[] =
    R"({"kind":"APIResourceList","resources":[{"name":"workloads"},)"
    R"({"name":"podgroups"},{"name":"podgroups/status"}]})";
constexpr char other_resources[] =
    R"({"kind":"APIResourceList","resources":[{"name":"elasticquotas"}]})";
constexpr char empty_list[] = R"({"kind":"PodGroupList","items":[]})";

std::string groups(const std::string &name,
                   const std::vector<std::string> &versions)
{
    std::string text =
        R"({"kind":"APIGroupList","groups":[{"name":"apps","versions":[]})"
        R"(,{"name":")" +
        name + R"(","versions":[{"version":"v0"})";
    for (const std::string &version : versions)
        text += R"(,{"version":")" + version + R"("})";
    return text + "]}]}";
}

std::string workload_groups(bool there)
{
    return groups("scheduling.k8s.io",
                  there ? std::vector<std::string>{"v1alpha2"}
                        : std::vector<std::string>{});
}
constexpr char version_path[] = "/apis/scheduling.k8s.io/v1alpha2";
constexpr char list[] =
    R"({"type":"ADDED","object":{"metadata":{"namespace":"ns1","name":"g",)"
    R"("uid":"u-1","resourceVersion":"5"},"spec":{"schedulingPolicy":)"
    R"({"gang":{"minCount":3}}}}})"
    "\n"
    R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9",)"
    R"("annotations":{"k8s.io/initial-events-end":"true"}}}})"
    "\n";

// An API server whose list of groups says that it has the API, or not.
struct Cluster {
    std::chrono::milliseconds look_;
    std::atomic<bool> there = false;
    std::atomic<int> looks = 0;
    Access access;
    GroupLooks requests;
    Mailbox<Message> mailbox;
    TlsServer server{[this](const TlsServer::Request &request,
                            TlsServer::Peer &peer) { answer(request, peer); }};
    GroupWatch watch{server.endpoint(),
                     GroupApi::workload,
                     access,
                     requests,
                     mailbox,
                     times()};
    std::jthread thread;

    // seldom: nobody looks without a request.
    explicit Cluster(std::chrono::milliseconds look = 20ms) : look_(look) {}
    GroupWatchTimes times() const { return {look_, 20ms, {}}; }

    void start()
    {
        thread = std::jthread([this](std::stop_token s) { watch.run(s); });
    }
    void answer(const TlsServer::Request &request, TlsServer::Peer &peer)
    {
        if (request.target == "/apis") {
            looks++;
            peer.send(reply_text(200, workload_groups(there)));
        } else if (there && request.target == version_path) {
            peer.send(reply_text(200, resources));
        } else if (!there) {
            peer.send(reply_text(404, "404 page not found"));
        } else {
            peer.send(stream_head() + chunk(list));
            peer.wait_for_end();
            peer.cut();
        }
    }
    GroupsListed next()
    {
        for (;;) {
            Message message = mailbox.pop().value();
            if (auto *groups = std::get_if<GroupsListed>(&message))
                return *groups;
        }
    }
};

} // namespace

TEST_CASE("an API that is absent is said once, and noticed when it comes")
{
    Cluster cluster;
    cluster.access.set({});
    cluster.start();
    CHECK_FALSE(cluster.next().specs);

    int looks = cluster.looks;
    while (cluster.looks < looks + 2)
        std::this_thread::yield();
    CHECK(cluster.mailbox.size() == 0);
    cluster.there = true;
    GroupsListed listed = cluster.next();
    REQUIRE(listed.specs);
    CHECK(listed.api == GroupApi::workload);
    REQUIRE(listed.specs->size() == 1);
    CHECK(listed.specs->front().minimum == 3);
}

TEST_CASE("without the right to read them there are none, until it is given")
{
    Cluster cluster;
    cluster.there = true;
    cluster.start();
    std::this_thread::yield();
    CHECK(cluster.looks == 0); // nothing is known of our rights yet

    AccessReview review;
    review.missing.push_back(
        {Feature::pod_groups, "watch", "scheduling.k8s.io", "podgroups"});
    cluster.access.set(review);
    CHECK_FALSE(cluster.next().specs);
    CHECK(cluster.looks == 0);
    cluster.access.set({});
    CHECK(cluster.next().specs);
}

TEST_CASE(
    "a server that does not answer has not said that there is no such API")
{
    TlsServer server([](const TlsServer::Request &, TlsServer::Peer &peer) {
        peer.send(reply_text(503, "no"));
    });
    Http http(server.endpoint());
    CHECK(find_api(http, GroupApi::workload, true, {}).error().code ==
          Code::busy);

    TlsServer odd([](const TlsServer::Request &, TlsServer::Peer &peer) {
        peer.send(reply_text(200, "{}"));
    });
    Http other(odd.endpoint());
    CHECK(find_api(other, GroupApi::workload, true, {}).error().code ==
          Code::busy);
}

TEST_CASE("a look that is requested is made at once, and always answered")
{
    Cluster cluster(1h);
    cluster.access.set({});
    cluster.start();
    CHECK(cluster.next().look == 0);

    GroupLooks::Number first = cluster.requests.ask(GroupApi::workload);
    GroupsListed listed = cluster.next();
    CHECK_FALSE(listed.specs);
    CHECK(listed.look == first);
    cluster.there = true;
    GroupLooks::Number second = cluster.requests.ask(GroupApi::workload);
    CHECK(second > first);
    listed = cluster.next();
    REQUIRE(listed.specs);
    CHECK(listed.look == second);
    REQUIRE(listed.path);
    CHECK(listed.path->words() == "podgroups.scheduling.k8s.io/v1alpha2");
    CHECK(listed.specs->front().path == listed.path);
}

TEST_CASE("a request without the right is answered: there is none")
{
    Cluster cluster(1h);
    cluster.there = true;
    AccessReview review;
    review.missing.push_back(
        {Feature::pod_groups, "watch", "scheduling.k8s.io", "podgroups"});
    GroupLooks::Number look = cluster.requests.ask(GroupApi::workload);
    cluster.access.set(review);
    cluster.start();
    GroupsListed listed = cluster.next();
    CHECK_FALSE(listed.specs);
    CHECK(listed.look == look);
    CHECK(cluster.looks == 0);
}

TEST_CASE("of the versions that are served the newest that has the objects")
{
    auto found = [](const std::vector<std::string> &versions,
                    const std::string &of_beta) -> std::string {
        TlsServer server(
            [&](const TlsServer::Request &request, TlsServer::Peer &peer) {
                bool beta = request.target.ends_with("v1beta1");
                if (request.target == "/apis")
                    peer.send(
                        reply_text(200, groups("scheduling.k8s.io", versions)));
                else
                    peer.send(reply_text(200, beta ? of_beta : resources));
            });
        Http http(server.endpoint());
        auto path = find_api(http, GroupApi::workload, true, {});
        REQUIRE(path);
        // What the server does not have is not asked for.
        CHECK(server.requests().size() <= versions.size() + 1);
        return *path ? (*path)->version : "none";
    };
    CHECK(found({"v1alpha3", "v1beta1"}, resources) == "v1beta1");
    CHECK(found({"v1alpha3", "v1beta1"}, other_resources) == "v1alpha3");
    CHECK(found({"v1beta1"}, other_resources) == "none");
    CHECK(found({"v1alpha2"}, resources) == "v1alpha2");
    CHECK(found({"v2"}, resources) == "none");
}

TEST_CASE("a CRD that the lists do not have yet is found if a Pod wants it")
{
    std::atomic there = true; // the server has threads of its own
    TlsServer server([&](const TlsServer::Request &request,
                         TlsServer::Peer &peer) {
        if (request.target == "/apis")
            peer.send(reply_text(200, workload_groups(false)));
        else if (there && request.target ==
                              path_of(GroupApi::plugins).list() + "?limit=1")
            peer.send(reply_text(200, empty_list));
        else
            peer.send(reply_text(404, "404 page not found"));
    });
    Http http(server.endpoint());
    CHECK(find_api(http, GroupApi::plugins, false, {}).value() == nullptr);
    CHECK(find_api(http, GroupApi::plugins, true, {}).value() ==
          &path_of(GroupApi::plugins));
    there = false;
    CHECK(find_api(http, GroupApi::plugins, true, {}).value() == nullptr);
}

TEST_CASE("an API that has no objects and is still listed is not asked for in "
          "a circle")
{
    Mailbox<Clock::time_point> lists;
    TlsServer server(
        [&](const TlsServer::Request &request, TlsServer::Peer &peer) {
            if (request.target == "/apis") {
                peer.send(reply_text(200, workload_groups(true)));
            } else if (request.target == version_path) {
                peer.send(reply_text(200, resources));
            } else {
                lists.push(Clock::now());
                peer.send(reply_text(404, "404 page not found"));
            }
        });
    Access access;
    access.set({});
    GroupLooks requests;
    Mailbox<Message> mailbox;
    GroupWatch watch(server.endpoint(), GroupApi::workload, access, requests,
                     mailbox, {1h, 20ms, {}});
    std::jthread thread([&](std::stop_token stop) { watch.run(stop); });
    auto first = lists.pop().value();
    lists.pop();
    lists.pop();
    CHECK(lists.pop().value() - first >= 40ms); // three looks later
}
