// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/group_watch.h"
#include "tests/unit/fakes/tls_server.h"

#include <atomic>
#include <doctest/doctest.h>
#include <thread>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

constexpr char with_it[] =
    R"({"kind":"APIGroupList","groups":[{"name":"apps","versions":[]},)"
    R"({"name":"scheduling.k8s.io","versions":[{"version":"v1"},)"
    R"({"version":"v1alpha2"}]}]})";
constexpr char without_it[] =
    R"({"kind":"APIGroupList","groups":[{"name":"scheduling.k8s.io",)"
    R"("versions":[{"version":"v1"}]}]})";
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
    std::atomic<bool> there = false;
    std::atomic<int> looks = 0;
    Access access;
    Mailbox<Message> mailbox;
    TlsServer server{[this](const TlsServer::Request &request,
                            TlsServer::Peer &peer) { answer(request, peer); }};
    GroupWatch watch{server.endpoint(),
                     GroupApi::workload,
                     access,
                     mailbox,
                     {20ms, 20ms, {}}};
    std::jthread thread;

    void start()
    {
        thread = std::jthread([this](std::stop_token s) { watch.run(s); });
    }
    void answer(const TlsServer::Request &request, TlsServer::Peer &peer)
    {
        if (request.target == "/apis") {
            looks++;
            peer.send(reply_text(200, there ? with_it : without_it));
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
    CHECK(has_api(http, GroupApi::workload, {}).error().code == Code::busy);

    TlsServer odd([](const TlsServer::Request &, TlsServer::Peer &peer) {
        peer.send(reply_text(200, "{}"));
    });
    Http other(odd.endpoint());
    CHECK(has_api(other, GroupApi::workload, {}).error().code == Code::busy);
}
