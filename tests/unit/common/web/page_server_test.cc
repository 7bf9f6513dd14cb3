// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/owned_fd.h"
#include "common/web/page_callers.h"
#include "common/web/page_server.h"

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <latch>
#include <memory>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <vector>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t threads = 2;
constexpr int patience = 60'000; // ms; what a hung server would take
constexpr std::string_view request = "GET /page HTTP/1.1\r\nHost: here\r\n\r\n";

sockaddr_in loopback(std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

// A port that was free a moment ago.
std::uint16_t free_port()
{
    OwnedFd fd(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);
    auto *generic = reinterpret_cast<sockaddr *>(&address);
    REQUIRE(bind(fd.get(), generic, size) == 0);
    REQUIRE(getsockname(fd.get(), generic, &size) == 0);
    return ntohs(address.sin_port);
}

// Serves /page, which waits for the latch /held before it answers.
struct Site {
    std::uint16_t port = free_port();
    std::latch release{1};
    std::atomic<std::size_t> held = 0;
    std::unique_ptr<PageServer> server{};

    Site()
    {
        std::string address = "127.0.0.1:" + std::to_string(port);
        auto started = PageServer::start(
            address, address, threads,
            {{"/page", [](const PageRequest &) { return probe_page(""); }},
             {"/held", [this](const PageRequest &) {
                  held++;
                  release.wait();
                  return probe_page("");
              }}});
        REQUIRE(started.has_value());
        server = std::move(*started);
    }

    OwnedFd call(std::string_view says) const
    {
        OwnedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address = loopback(port);
        REQUIRE(connect(fd.get(), reinterpret_cast<sockaddr *>(&address),
                        sizeof(address)) == 0);
        send(fd.get(), says.data(), says.size(), MSG_NOSIGNAL);
        return fd;
    }
};

// All that comes until the server closes the connection.
std::string reply_at(const OwnedFd &fd)
{
    std::string all;
    char bytes[4096];
    for (;;) {
        pollfd one{fd.get(), POLLIN, 0};
        if (poll(&one, 1, patience) <= 0)
            return "nothing came after: " + all;
        ssize_t count = recv(fd.get(), bytes, sizeof(bytes), 0);
        if (count <= 0)
            return all;
        all.append(bytes, static_cast<std::size_t>(count));
    }
}

bool is_page(const std::string &reply)
{
    return reply.starts_with("HTTP/1.1 200 ") && reply.ends_with("ok\n");
}

} // namespace

TEST_CASE_FIXTURE(Site, "a page is served, and the connection closed")
{
    CHECK(is_page(reply_at(call(request))));
    CHECK(reply_at(call("GET /other HTTP/1.1\r\n\r\n"))
              .starts_with("HTTP/1.1 404 "));
    CHECK(reply_at(call("nonsense\r\n\r\n")).starts_with("HTTP/1.1 400 "));
}

TEST_CASE_FIXTURE(Site, "who sends slowly keeps no others from pages")
{
    std::vector<OwnedFd> slow;
    for (std::size_t i = 0; i < 4 * threads; i++)
        slow.push_back(call(i % 2 ? "" : "GET /page HTTP/1.1\r\nX: "));
    std::jthread sender([&](const std::stop_token &stop) {
        while (!stop.stop_requested()) {
            for (const OwnedFd &fd : slow)
                send(fd.get(), "x", 1, MSG_NOSIGNAL);
            std::this_thread::sleep_for(100ms);
        }
    });

    bool served = false; // a slow one that is accepted late may get in between
    for (int tries = 0; tries < 3 && !served; tries++)
        served = is_page(reply_at(call(request)));
    CHECK(served);
}

TEST_CASE_FIXTURE(Site, "so many callers wait for a thread, others are closed")
{
    std::vector<OwnedFd> computing;
    for (std::size_t i = 0; i < threads; i++)
        computing.push_back(call("GET /held HTTP/1.1\r\nHost: here\r\n\r\n"));
    while (held < threads)
        std::this_thread::sleep_for(1ms);

    std::vector<OwnedFd> waiting;
    std::vector<pollfd> polled;
    for (std::size_t i = 0; i <= PageCallers::most_queued; i++) {
        waiting.push_back(call(request));
        polled.push_back({waiting.back().get(), POLLIN, 0});
    }
    CHECK(poll(polled.data(), polled.size(), patience) == 1); // is closed

    release.count_down();
    for (const OwnedFd &fd : computing)
        CHECK(is_page(reply_at(fd)));
    auto served = std::ranges::count_if(
        waiting, [](const OwnedFd &fd) { return is_page(reply_at(fd)); });
    CHECK(served == PageCallers::most_queued);
}

TEST_CASE_FIXTURE(Site, "a server ends while callers are silent")
{
    std::vector<OwnedFd> silent;
    for (std::size_t i = 0; i < 4 * threads; i++)
        silent.push_back(call(""));

    server.reset();

    for (const OwnedFd &fd : silent)
        CHECK(reply_at(fd).empty());
}
