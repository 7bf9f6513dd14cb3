// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/http.h"
#include "tests/unit/fakes/tls_server.h"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <fstream>
#include <thread>
#include <vector>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

using Request = TlsServer::Request;
using Peer = TlsServer::Peer;
using Clock = std::chrono::steady_clock;

void answer_ok(const Request &, Peer &peer)
{
    peer.send(reply_text(200, "{}"));
}

// Streams these pieces, one chunk each, and ends well.
TlsServer::Handler answer_stream(std::vector<std::string> pieces)
{
    return [pieces = std::move(pieces)](const Request &, Peer &peer) {
        peer.send(stream_head());
        for (const std::string &piece : pieces)
            peer.send(chunk(piece));
        peer.send(last_chunk());
    };
}

Http::OnLine collect(std::vector<std::string> &lines)
{
    return [&lines](std::string_view line) -> Result<> {
        lines.emplace_back(line);
        return {};
    };
}

} // namespace

TEST_CASE("requests share one connection and carry token, type and body")
{
    TlsServer server(answer_ok);
    Http http(server.endpoint());

    CHECK(http.get("/a?b=c").has_value());
    CHECK(http.post("/p", "{1}").has_value());
    CHECK(http.put("/u", "{2}").has_value());
    CHECK(http.patch("/x", "application/merge-patch+json", "{3}").has_value());
    CHECK(http.remove("/d", "{4}").has_value());

    auto seen = server.requests();
    REQUIRE(seen.size() == 5);
    CHECK(server.connections() == 1);
    CHECK(seen[0].method == "GET");
    CHECK(seen[0].target == "/a?b=c");
    CHECK(seen[0].token() == "secret");
    CHECK(seen[0].body.empty());
    CHECK(seen[1].method == "POST");
    CHECK(seen[1].body == "{1}");
    CHECK(seen[1].has("Content-Type: application/json"));
    CHECK(seen[2].method == "PUT");
    CHECK(seen[3].method == "PATCH");
    CHECK(seen[3].has("Content-Type: application/merge-patch+json"));
    CHECK(seen[4].method == "DELETE");
    CHECK(seen[4].body == "{4}");
}

TEST_CASE("after a 401 the token file is read again, once")
{
    TlsServer server([](const Request &request, Peer &peer) {
        bool good = request.token() == "fresh";
        peer.send(reply_text(good ? 200 : 401, good ? "yes" : "no"));
    });
    Http http(server.endpoint());

    auto refused = http.get("/");
    REQUIRE(refused.has_value());
    CHECK(refused->status == 401);
    CHECK(server.requests().size() == 2);

    server.write_token("fresh");
    auto reply = http.get("/");
    REQUIRE(reply.has_value());
    CHECK(reply->status == 200);
    CHECK(reply->body == "yes");
}

TEST_CASE("a token that cannot be one is an error with the file's name")
{
    for (std::string text : {"", "\n", "two\nlines", "a b", "\xff\xfe"}) {
        CAPTURE(text);
        TlsServer server(answer_ok);
        server.write_token(text);
        Http http(server.endpoint());

        auto reply = http.get("/");

        REQUIRE(!reply.has_value());
        CHECK(reply.error().code == Code::denied);
        CHECK(reply.error().message.contains(server.folder() + "/token"));
        CHECK(server.requests().empty());
    }
}

TEST_CASE("Retry-After is told in seconds")
{
    TlsServer server([](const Request &, Peer &peer) {
        peer.send(reply_text(429, "{}", "Retry-After: 7\r\n"));
    });
    Http http(server.endpoint());

    auto reply = http.post("/", "{}");

    REQUIRE(reply.has_value());
    CHECK(reply->status == 429);
    CHECK(reply->retry_after == 7s);
    CHECK(check_status(*reply).error().retry_after == 7s);
}

TEST_CASE("Retry-After is a minute at most, and a stream's refusal has it, too")
{
    TlsServer server([](const Request &, Peer &peer) {
        peer.send(reply_text(503, "{}", "Retry-After: 86400\r\n"));
    });
    Http http(server.endpoint());
    std::vector<std::string> lines;

    CHECK(http.get("/")->retry_after == 60s);
    auto ended = http.stream("/w", collect(lines), 5s, {});
    REQUIRE(!ended.has_value());
    CHECK(ended.error().retry_after == 60s);
}

TEST_CASE("a connection cut after the request leaves a write uncertain")
{
    TlsServer server([](const Request &, Peer &peer) { peer.cut(); });
    Http http(server.endpoint());

    auto written = http.post("/x", "{}");
    auto read = http.get("/x");

    REQUIRE(!written.has_value());
    CHECK(written.error().code == Code::uncertain);
    REQUIRE(!read.has_value());
    CHECK(read.error().code == Code::busy);
    CHECK(!written.error().message.contains("secret"));
}

TEST_CASE("a request on a kept connection that was closed is sent again")
{
    std::atomic<int> turn = 0;
    TlsServer server([&](const Request &, Peer &peer) {
        if (++turn == 2)
            peer.cut(); // as a server that restarts
        else
            peer.send(reply_text(200, "{}"));
    });
    Http http(server.endpoint());

    CHECK(http.get("/").has_value());
    CHECK(http.post("/x", "{}").has_value());

    CHECK(server.requests().size() == 3);
    CHECK(server.connections() == 2);
}

TEST_CASE("a stop ends a call that nobody answers")
{
    TlsServer server([](const Request &, Peer &peer) { peer.wait_for_end(); });
    HttpEndpoint endpoint = server.endpoint();
    endpoint.timeout = 0s; // curl: none; the stop ends it
    Http http(endpoint);
    std::stop_source stop;
    std::jthread stopper([&] {
        while (server.requests().empty())
            std::this_thread::yield();
        stop.request_stop();
    });

    auto reply = http.get("/", stop.get_token());

    REQUIRE(!reply.has_value());
    CHECK(reply.error().code == Code::busy);
}

TEST_CASE("nobody at the address means that nothing was done")
{
    HttpEndpoint endpoint;
    {
        TlsServer server(answer_ok);
        endpoint = server.endpoint();
        endpoint.ca_file = "/dev/null";
        endpoint.token_file = "/proc/self/comm"; // a word
    }
    Http http(endpoint);

    auto reply = http.post("/", "{}");

    REQUIRE(!reply.has_value());
    CHECK(reply.error().code == Code::busy);
}

TEST_CASE("a server whose certificate nobody vouches for gets no token")
{
    TlsServer server(answer_ok);
    TlsServer other(answer_ok);
    HttpEndpoint endpoint = server.endpoint();
    endpoint.ca_file = other.endpoint().ca_file;
    Http http(endpoint);

    auto reply = http.get("/");

    REQUIRE(!reply.has_value());
    CHECK(reply.error().code == Code::denied);
    CHECK(server.requests().empty());
}

TEST_CASE("a redirection is not followed, plain HTTP is not spoken")
{
    TlsServer server([](const Request &, Peer &peer) {
        peer.send(reply_text(302, "", "Location: https://127.0.0.1:1/\r\n"));
    });
    Http http(server.endpoint());
    HttpEndpoint plain = server.endpoint();
    plain.server.replace(0, 5, "http");

    auto reply = http.get("/");
    REQUIRE(reply.has_value());
    CHECK(reply->status == 302);
    CHECK(!check_status(*reply).has_value());
    CHECK(!Http(plain).get("/").has_value());
}

TEST_CASE("a stream hands over whole lines, however they are cut")
{
    TlsServer server(answer_stream({"on", "e\ntwo\r\nth", "ree", "\n\n", "4"}));
    Http http(server.endpoint());
    std::vector<std::string> lines;

    auto ended = http.stream("/w", collect(lines), 5s, {});

    CHECK(ended.has_value());
    CHECK(lines == std::vector<std::string>{"one", "two", "three", "4"});
}

TEST_CASE("a stream ends with the error of the one who reads it")
{
    TlsServer server(answer_stream({"one\n", "two\n"}));
    Http http(server.endpoint());

    auto ended = http.stream(
        "/w", [](std::string_view) { return fail(Code::gone, "enough"); }, 5s,
        {});

    REQUIRE(!ended.has_value());
    CHECK(ended.error().code == Code::gone);
    CHECK(ended.error().message.contains("enough"));
}

TEST_CASE("a stream that breaks is an error, its lines are not lost")
{
    TlsServer server([](const Request &, Peer &peer) {
        peer.send(stream_head() + chunk("one\ntw"));
        peer.cut();
    });
    Http http(server.endpoint());
    std::vector<std::string> lines;

    auto ended = http.stream("/w", collect(lines), 5s, {});

    REQUIRE(!ended.has_value());
    CHECK(ended.error().code == Code::busy);
    CHECK(lines == std::vector<std::string>{"one"});
}

TEST_CASE("a stop ends a stream in its middle, at once")
{
    TlsServer server([](const Request &, Peer &peer) {
        peer.send(stream_head() + chunk("one\n"));
        peer.wait_for_end();
    });
    Http http(server.endpoint());
    std::stop_source stop;
    std::jthread stopper;
    Clock::time_point asked;
    auto on_line = [&](std::string_view) -> Result<> {
        stopper = std::jthread([&] {
            std::this_thread::sleep_for(10ms); // till it waits again
            asked = Clock::now();
            stop.request_stop();
        });
        return {};
    };

    auto ended = http.stream("/w", on_line, 60s, stop.get_token());

    CHECK(ended.has_value());
    CHECK(Clock::now() - asked < 10s);
}

TEST_CASE("a silent stream is gone")
{
    TlsServer server([](const Request &, Peer &peer) {
        peer.send(stream_head() + chunk("one\n"));
        peer.wait_for_end();
    });
    Http http(server.endpoint());
    std::vector<std::string> lines;

    auto ended = http.stream("/w", collect(lines), 500ms, {});

    REQUIRE(!ended.has_value());
    CHECK(ended.error().code == Code::gone);
    CHECK(lines.size() == 1);
}

TEST_CASE("a refused stream says why, in the server's words")
{
    TlsServer server([](const Request &, Peer &peer) {
        peer.send(reply_text(410, R"({"kind":"Status","message":"too old"})"));
    });
    Http http(server.endpoint());
    std::vector<std::string> lines;

    auto ended = http.stream("/w", collect(lines), 5s, {});

    REQUIRE(!ended.has_value());
    CHECK(ended.error().code == Code::gone);
    CHECK(ended.error().message == "HTTP 410: too old");
    CHECK(lines.empty());
}

TEST_CASE("a name is encoded for a path")
{
    CHECK(url_encode("web-0.a_b~c") == "web-0.a_b~c");
    CHECK(url_encode("a/b?c=d&e f%") == "a%2Fb%3Fc%3Dd%26e%20f%25");
    CHECK(url_encode("\xc3\xa4") == "%C3%A4");
}
