// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/call_counts.h"
#include "tests/unit/fakes/temporary_directory.h"
#include "tests/unit/fakes/tls_server.h"

#include <atomic>
#include <doctest/doctest.h>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

using namespace bridge;

namespace {

std::string page(const CallCounts &counts)
{
    MetricText text(MetricFormat::prometheus);
    counts.write(text);
    return std::move(text).finish();
}

} // namespace

TEST_CASE("each request that an Http has sent counts by what it was and how it "
          "ended")
{
    auto counts = std::make_shared<CallCounts>();
    {
        TlsServer server([](const TlsServer::Request &request,
                            TlsServer::Peer &peer) {
            peer.send(reply_text(request.method == "POST" ? 409 : 200, "{}"));
        });
        HttpEndpoint endpoint = server.endpoint();
        endpoint.observer = counts;
        Http http(endpoint);
        REQUIRE(http.get("/api/v1/namespaces/a/pods/b"));
        REQUIRE(http.get("/api/v1/namespaces/a/pods/c"));
        REQUIRE(http.post("/api/v1/namespaces/a/pods/b/binding", "{}"));
    }
    HttpEndpoint nowhere{.server = "https://127.0.0.1:1",
                         .ca_file = "/none",
                         .token_file = "/none",
                         .observer = counts};
    CHECK_FALSE(Http(nowhere).get("/api/v1/nodes"));

    const std::string text = page(*counts);
    for (const char *line :
         {"slurmk8sd_kubernetes_requests_total{verb=\"get\","
          "resource=\"pods\",code=\"200\"} 2",
          "slurmk8sd_kubernetes_requests_total{verb=\"create\","
          "resource=\"pods/binding\",code=\"409\"} 1",
          "slurmk8sd_kubernetes_requests_total{verb=\"list\","
          "resource=\"nodes\",code=\"error\"} 1"}) {
        CAPTURE(line);
        CHECK(text.contains("\n" + std::string(line) + "\n"));
    }
    CHECK(text.contains("\nslurmk8sd_kubernetes_request_seconds_total{"
                        "verb=\"get\",resource=\"pods\"} "));
}

TEST_CASE("a request that was never sent has no status of an earlier one")
{
    auto counts = std::make_shared<CallCounts>();
    std::atomic<bool> refuses = false;
    TlsServer server([&](const TlsServer::Request &, TlsServer::Peer &peer) {
        peer.send(reply_text(refuses ? 401 : 200, "{}"));
    });
    TemporaryDirectory directory;
    HttpEndpoint endpoint = server.endpoint();
    std::filesystem::copy_file(endpoint.token_file, directory.path + "/token");
    endpoint.token_file = directory.path + "/token";
    endpoint.observer = counts;
    Http http(endpoint);
    REQUIRE(http.get("/api/v1/nodes"));
    std::filesystem::remove(endpoint.token_file);
    refuses = true; // so that the token is read again
    CHECK_FALSE(http.get("/api/v1/nodes"));
    CHECK(page(*counts).contains("resource=\"nodes\",code=\"error\"} 1\n"));
    CHECK(page(*counts).contains("resource=\"nodes\",code=\"200\"} 1\n"));
    CHECK(page(*counts).contains("resource=\"nodes\",code=\"401\"} 1\n"));
}

TEST_CASE("a log that is followed has no time either")
{
    CallCounts counts;
    counts.ended("GET", "/api/v1/namespaces/a/pods/b/log?follow=true", 200,
                 std::chrono::hours(8));
    CHECK(page(counts).contains("resource=\"pods/log\",code=\"200\"} 1\n"));
    CHECK_FALSE(page(counts).contains("seconds_total{verb=\"get\""));
}

TEST_CASE("time in a call that is not slurmctld's does not count")
{
    CallCounts counts;
    std::chrono::nanoseconds ours{};
    auto done = counts.slurm(
        "count_jobs",
        [&] {
            ours = std::chrono::hours(-1); // as if the call had taken an hour
            return Result<>{};
        },
        ours);
    REQUIRE(done);
    const std::string text = page(counts);
    std::size_t at = text.find("request_seconds_total{call=\"count_jobs\"} ");
    REQUIRE(at != text.npos);
    CHECK(std::stod(text.substr(text.find(' ', at))) >= 3600);
}

TEST_CASE("a watch has no time: it lasts as long as its stream")
{
    CallCounts counts;
    counts.ended("GET", "/api/v1/pods?watch=true", 200,
                 std::chrono::minutes(5));
    const std::string text = page(counts);
    CHECK(text.contains("verb=\"watch\",resource=\"pods\",code=\"200\"} 1\n"));
    CHECK_FALSE(text.contains("request_seconds_total{verb=\"watch\""));
}

TEST_CASE("a call to slurmctld returns its result and counts")
{
    CallCounts counts;
    auto good = counts.slurm("load", [] { return Result<int>(7); });
    CHECK(good == 7);
    auto bad = counts.slurm(
        "load", []() -> Result<int> { return fail(Code::busy, "away"); });
    REQUIRE_FALSE(bad);
    CHECK(bad.error().message == "away");

    const std::string text = page(counts);
    CHECK(text.contains(
        "\nslurmk8sd_slurm_requests_total{call=\"load\",result=\"ok\"} 1\n"));
    CHECK(text.contains(
        "\nslurmk8sd_slurm_requests_total{call=\"load\",result=\"busy\"} 1\n"));
    CHECK(text.contains(
        "\nslurmk8sd_slurm_request_seconds_total{call=\"load\"} "));
}
