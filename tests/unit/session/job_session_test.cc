// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/session/job_session.h"
#include "agent/session/pod_exec.h"
#include "agent/session/socket.h"
#include "common/kube/socket.h"
#include "tests/unit/fakes/tls_server.h"

#include <arpa/inet.h>
#include <chrono>
#include <doctest/doctest.h>
#include <format>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <vector>

using namespace bridge;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

using Request = TlsServer::Request;
using Peer = TlsServer::Peer;

constexpr uid_t alice = 1001, bob = 1002, slurm = 64030;

struct PodText {
    std::string name = "job-7-aaaaaaaa";
    std::string mark = "7 s0000000000001 aaaa";
    std::string created = "2026-01-01T00:00:00Z";
    std::string phase = "Running";
    std::string rank = "0";
    int user = alice;

    std::string text() const
    {
        return std::format(
            R"({{"metadata":{{"namespace":"slurm-jobs","name":"{}",)"
            R"("creationTimestamp":"{}","annotations":{{)"
            R"("slurmk8s/sbatch":"{}","slurmk8s/rank":"{}"}}}},)"
            R"("spec":{{"containers":[{{"name":"sidecar"}},{{"name":"job"}}],)"
            R"("securityContext":{{"runAsUser":{}}}}},)"
            R"("status":{{"phase":"{}"}}}})",
            name, created, mark, rank, user, phase);
    }
};

std::string list_of(const std::vector<PodText> &pods)
{
    std::string items;
    for (const PodText &pod : pods)
        items += (items.empty() ? "" : ",") + pod.text();
    return "{\"items\":[" + items + "]}";
}

std::optional<JobPod> newest_of(const std::vector<PodText> &pods)
{
    return newest_job_pod(Json::parse(list_of(pods))->items("items"));
}

// As a server sends it.
std::string ws_frame(std::string_view data)
{
    return std::string("\x82") + static_cast<char>(data.size()) +
           std::string(data);
}

std::string header_in(const Request &request, const std::string &name)
{
    std::size_t at = request.head.find("\r\n" + name + ": ");
    if (at == std::string::npos)
        return {};
    at += name.size() + 4;
    return request.head.substr(at, request.head.find("\r\n", at) - at);
}

std::string port_of(const OwnedFd &listener)
{
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    getsockname(listener.get(), reinterpret_cast<sockaddr *>(&address), &size);
    return std::to_string(ntohs(address.sin_port));
}

void accept_exec(const Request &request, Peer &peer)
{
    std::string key = header_in(request, "Sec-WebSocket-Key");
    peer.send("HTTP/1.1 101 Switching Protocols\r\n"
              "upgrade: WebSocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n"
              "Sec-WebSocket-Accept: " +
              ws_accept(key) + "\r\n\r\n");
}

// The API server with one Pod; its exec sends these messages.
TlsServer::Handler api_server(const PodText &pod, const std::string &log,
                              std::vector<std::string> messages = {})
{
    return [=](const Request &request, Peer &peer) {
        if (request.target.contains("/exec?")) {
            accept_exec(request, peer);
            for (const std::string &message : messages)
                peer.send(ws_frame(message));
            peer.wait_for_end();
        } else if (request.target.contains("/log?")) {
            peer.send(log.empty()
                          ? reply_text(403, R"({"kind":"Status","code":403})")
                          : reply_text(200, log));
        } else {
            peer.send(reply_text(200, list_of({pod})));
        }
    };
}

struct Outcome {
    SessionEnd end;
    std::string output;
    std::string error;
    bool accepted = false;
};

// What a user sees, who types this at the beginning of the output.
Outcome ask(const TlsServer &server, const SessionRequest &request,
            uid_t caller = alice, bool may_attach = true,
            const std::string &typed = {})
{
    int fds[2] = {-1, -1};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                       fds) == 0);
    PeerStream ours(fds[0]), users(fds[1]);
    Outcome outcome;
    JobSessions sessions{server.endpoint(), {"slurm-jobs"}, slurm, may_attach};
    std::jthread thread([&] {
        outcome.end = serve_session(sessions, ours, request, caller, {});
        CHECK(ours.send(FrameType::ended, encode(outcome.end),
                        PeerStream::Clock::now() + 5s, {}));
    });
    for (;;) {
        auto frame = users.wait_frame(PeerStream::Clock::now() + 20s, {});
        REQUIRE(frame);
        if (frame->type == FrameType::ended)
            break;
        outcome.accepted |= frame->type == FrameType::accepted;
        if (frame->type == FrameType::output) {
            if (!typed.empty() && outcome.output.empty())
                CHECK(users.send(FrameType::input, typed,
                                 PeerStream::Clock::now() + 5s, {}));
            outcome.output += frame->text;
        }
        if (frame->type == FrameType::error)
            outcome.error += frame->text;
    }
    thread.join();
    return outcome;
}

SessionRequest logs()
{
    SessionRequest request;
    request.job = 7;
    return request;
}

SessionRequest attach()
{
    SessionRequest request = logs();
    request.what = SessionRequest::What::attach;
    request.command = {"sh", "-c", "exit 3"};
    request.input = true;
    return request;
}

} // namespace

TEST_CASE("a job's Pod is that of the newest job with its id, first in rank")
{
    PodText old{
        .name = "old", .mark = "7 s1 b", .created = "2025-01-01T00:00:00Z"};
    PodText second{.name = "second", .rank = "1"};
    PodText first{.name = "first", .created = "2026-01-01T00:00:01Z"};
    PodText foreign{.name = "z", .mark = "", .created = "2027-01-01T00:00:00Z"};
    PodText roots{.name = "z", .created = "2027-01-01T00:00:00Z", .user = 0};

    auto found = newest_of({old, second, foreign, roots, first});

    REQUIRE(found);
    CHECK(*found == JobPod{"slurm-jobs", "first", "job", "Running", alice});
    CHECK(newest_of({foreign}) == std::nullopt);
    CHECK(newest_of({}) == std::nullopt);
}

TEST_CASE("a Pod is its user's, root's and SlurmUser's")
{
    JobPod pod{"slurm-jobs", "job-7", "job", "Running", alice};

    CHECK(may_use(pod, alice, slurm));
    CHECK(may_use(pod, 0, slurm));
    CHECK(may_use(pod, slurm, slurm));
    CHECK(!may_use(pod, bob, slurm));
}

TEST_CASE("a user gets the log of a job of his, byte for byte")
{
    std::string text = "one\n\ntwo\r\n\x01 no end";
    TlsServer server(api_server({}, text));

    auto outcome = ask(server, logs());

    CHECK(outcome.accepted);
    CHECK(outcome.output == text);
    CHECK(outcome.end == SessionEnd{});
    REQUIRE(server.requests().size() == 2);
    CHECK(server.requests()[0].target ==
          "/api/v1/namespaces/slurm-jobs/pods?labelSelector="
          "scheduler.slinky.slurm.net%2Fslurm-jobid%3D7");
    CHECK(server.requests()[1].target ==
          "/api/v1/namespaces/slurm-jobs/pods/job-7-aaaaaaaa/log"
          "?container=job");
}

TEST_CASE("another user is refused before anything of the job is read")
{
    TlsServer server(api_server({}, "secret"));

    for (const SessionRequest &request : {logs(), attach()}) {
        auto outcome = ask(server, request, bob);
        CHECK(outcome.end.refused == "job 7 belongs to another user");
        CHECK(!outcome.accepted);
        CHECK(outcome.output.empty());
    }

    for (const Request &request : server.requests())
        CHECK(request.target.contains("labelSelector"));
}

TEST_CASE("what is not there, not yet there, and not allowed is said")
{
    TlsServer none([](const Request &, Peer &peer) {
        peer.send(reply_text(200, "{\"items\":[]}"));
    });
    auto gone = ask(none, logs());
    CHECK(gone.end.unknown);
    CHECK(gone.end.refused.contains("StdOut"));

    TlsServer waits(api_server({.phase = "Pending"}, "x"));
    CHECK(ask(waits, logs()).end.later);

    TlsServer no_right(api_server({}, ""));
    CHECK(ask(no_right, logs())
              .end.refused.contains("contribs/kubernetes/components/sbatch"));

    TlsServer over(api_server({.phase = "Succeeded"}, "x"));
    CHECK(ask(over, attach()).end.refused.contains("has ended"));
    CHECK(ask(over, logs()).output == "x");
    CHECK(ask(over, attach(), alice, false).end.refused.contains("UserAttach"));
}

TEST_CASE("a log that is followed ends when the user goes")
{
    TlsServer server([](const Request &request, Peer &peer) {
        if (!request.target.contains("/log?")) {
            peer.send(reply_text(200, list_of({PodText{}})));
            return;
        }
        peer.send(stream_head());
        peer.send(chunk("begun"));
        peer.wait_for_end();
    });
    int fds[2] = {-1, -1};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                       fds) == 0);
    PeerStream ours(fds[0]);
    std::optional<PeerStream> users(std::in_place, fds[1]);
    SessionRequest request = logs();
    request.follow = true;
    JobSessions sessions{server.endpoint(), {"slurm-jobs"}, slurm, false};
    std::jthread thread(
        [&] { serve_session(sessions, ours, request, alice, {}); });
    auto until = PeerStream::Clock::now() + 20s;
    CHECK(users->wait_frame(until, {})->type == FrameType::accepted);
    CHECK(users->wait_frame(until, {})->text == "begun");

    users.reset();

    thread.join(); // else it would wait for ever
    CHECK(server.requests().back().target.ends_with("&follow=true"));
}

TEST_CASE("a command's output and exit code come back")
{
    TlsServer server(api_server(
        {}, "x",
        {"\x01"
         "out",
         "\x02"
         "err",
         "\x01",
         "\x03"
         R"({"status":"Failure","reason":"NonZeroExitCode","details":)"
         R"({"causes":[{"reason":"ExitCode","message":"3"}]}})"}));

    auto outcome = ask(server, attach());

    CHECK(outcome.accepted);
    CHECK(outcome.output == "out");
    CHECK(outcome.error == "err");
    CHECK(outcome.end == SessionEnd{3, {}, false});
    Request last = server.requests().back();
    CHECK(last.method == "GET");
    CHECK(last.token() == "secret");
    CHECK(last.target ==
          "/api/v1/namespaces/slurm-jobs/pods/job-7-aaaaaaaa/exec"
          "?container=job&stdout=true&stderr=true&stdin=true"
          "&command=sh&command=-c&command=exit%203");
}

TEST_CASE("what a user types is read while the container prints without end")
{
    TlsServer server([](const Request &request, Peer &peer) {
        if (!request.target.contains("/exec?")) {
            peer.send(reply_text(200, list_of({PodText{}})));
            return;
        }
        accept_exec(request, peer);
        std::string lines;
        while (lines.size() < 16384)
            lines += ws_frame("\x01" + std::string(100, 'y'));
        auto until = PeerStream::Clock::now() + 10s;
        while (!peer.has_input() && PeerStream::Clock::now() < until)
            peer.send(lines);
        peer.send(ws_frame(peer.has_input()
                               ? "\x03"
                                 R"({"status":"Success"})"
                               : "\x03"
                                 R"({"message":"nothing was typed"})"));
        peer.wait_for_end();
    });

    auto outcome = ask(server, attach(), alice, true, "\x03");

    CHECK(outcome.end == SessionEnd{});
    CHECK(outcome.output.size() > 100);
}

TEST_CASE("a terminal has one output, and needs no input")
{
    JobPod pod{"ns", "p", "c", "Running", alice};
    SessionRequest request = attach();
    request.terminal = true;
    request.input = false;
    request.command = {"a&b", "\xc3\xa4"};

    CHECK(exec_path(pod, request) ==
          "/api/v1/namespaces/ns/pods/p/exec?container=c&stdout=true"
          "&tty=true&command=a%26b&command=%C3%A4");
}

TEST_CASE("the last word of an exec is an exit code, or why there is none")
{
    CHECK(exec_end(R"({"status":"Success"})") == SessionEnd{});
    CHECK(exec_end(R"({"status":"Failure","message":"no such file"})") ==
          SessionEnd{0, "no such file", false});
    CHECK(exec_end("{").refused.contains("cannot be read"));
    CHECK(!exec_end(R"({"details":{"causes":[{"reason":"ExitCode",)"
                    R"("message":"256"}]}})")
               .refused.empty());
}

TEST_CASE("an exec that the API server refuses is refused in its words")
{
    TlsServer server([](const Request &request, Peer &peer) {
        if (request.target.contains("/exec?"))
            peer.send(reply_text(400, R"({"kind":"Status","code":400,)"
                                      R"("message":"container not found"})"));
        else
            peer.send(reply_text(200, list_of({PodText{}})));
    });

    auto outcome = ask(server, attach());

    CHECK(outcome.end.refused.contains("container not found"));
    CHECK(!outcome.accepted);
}

TEST_CASE("an exec that nobody answers ends with the agent")
{
    TlsServer silent([](const Request &, Peer &peer) { peer.wait_for_end(); });
    auto deaf = listen_tcp({"127.0.0.1", 0}); // and no handshake, either
    REQUIRE(deaf);
    HttpEndpoint endpoint = silent.endpoint();
    for (const std::string &server :
         {endpoint.server, "https://127.0.0.1:" + port_of(*deaf)}) {
        endpoint.server = server;
        auto begun = KubeSocket::Clock::now();
        std::stop_source agent;
        std::jthread stops([&] {
            std::this_thread::sleep_for(200ms);
            agent.request_stop();
        });

        auto socket = KubeSocket::open(endpoint, "/exec", "v5.channel.k8s.io",
                                       begun + 20s, agent.get_token());

        REQUIRE(!socket);
        CHECK(socket.error().message == "slurmk8sd is stopping");
        CHECK(KubeSocket::Clock::now() - begun < 4s); // 5 s is libcurl's own
    }
}

TEST_CASE("an answer that is no WebSocket's is none")
{
    std::string key = "dGhlIHNhbXBsZSBub25jZQ==";
    std::string good = "HTTP/1.1 101 X\r\nUpgrade: websocket\r\n"
                       "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n"
                       "Sec-WebSocket-Accept: ";
    constexpr char protocol[] = "v5.channel.k8s.io";

    CHECK(check_upgrade(good + ws_accept(key), "", key, protocol));
    CHECK(!check_upgrade(good + "x", "", key, protocol));
    CHECK(!check_upgrade(good + ws_accept(key), "", key, "v4.channel.k8s.io"));
    CHECK(!check_upgrade("HTTP/1.1 200 OK", "", key, protocol));
    CHECK(check_upgrade("HTTP/1.1 403 X", "{}", key, protocol).error().code ==
          Code::denied);
    CHECK(!check_upgrade("", "", key, protocol));
}
