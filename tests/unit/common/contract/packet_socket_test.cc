// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/hook_message.h"
#include "common/contract/packet_socket.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <ranges>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace bridge;

namespace {

// Two ends of one connection.
struct Pair {
    TemporaryDirectory directory;
    PacketSocket listener;
    PacketSocket client;
    PacketSocket server;

    Pair()
    {
        std::string path = directory.path + "/sock";
        auto listening = PacketSocket::listen(path, 0600);
        REQUIRE(listening);
        listener = std::move(*listening);
        auto connected = PacketSocket::connect(path);
        REQUIRE(connected);
        client = std::move(*connected);
        auto accepted = listener.accept();
        REQUIRE(accepted);
        server = std::move(*accepted);
    }
};

Code code_of(const auto &result)
{
    REQUIRE_FALSE(result);
    return result.error().code;
}

} // namespace

TEST_CASE("packets arrive whole, in order and in both directions")
{
    Pair pair;

    REQUIRE(pair.client.send("one"));
    REQUIRE(pair.client.send(std::string("t\0o", 3)));
    REQUIRE(pair.server.send("back"));

    CHECK(*pair.server.receive() == "one");
    CHECK(*pair.server.receive() == std::string("t\0o", 3));
    CHECK(code_of(pair.server.receive()) == Code::busy);
    CHECK(*pair.client.receive() == "back");
}

TEST_CASE("each side knows the other's user")
{
    Pair pair;

    CHECK(*pair.client.peer_uid() == geteuid());
    CHECK(*pair.server.peer_uid() == geteuid());
}

TEST_CASE("the socket has the mode that was asked, and no program inherits it")
{
    Pair pair;
    struct stat status{};

    REQUIRE(stat((pair.directory.path + "/sock").c_str(), &status) == 0);

    CHECK((status.st_mode & 0777) == 0600);
    for (const PacketSocket *s : {&pair.listener, &pair.client, &pair.server})
        CHECK((fcntl(s->fd(), F_GETFD) & FD_CLOEXEC));
}

TEST_CASE("the longest packet fits, a longer one is rejected")
{
    Pair pair;

    REQUIRE(pair.client.send(std::string(max_packet, 'x')));
    CHECK(pair.server.receive()->size() == max_packet);

    REQUIRE(pair.client.send(std::string(max_packet + 1, 'x')));
    CHECK(code_of(pair.server.receive()) == Code::rejected);

    CHECK(code_of(pair.client.send(std::string(16 << 20, 'x'))) ==
          Code::rejected);
    REQUIRE(pair.client.send("still open"));
    CHECK(*pair.server.receive() == "still open");
}

TEST_CASE("a full buffer is busy, and has room again when it was read")
{
    Pair pair;
    const std::string packet(max_packet, 'x');
    int sent = 0;
    Result<> last;
    while ((last = pair.client.send(packet)))
        REQUIRE(++sent < 1000);

    CHECK(code_of(last) == Code::busy);
    while (pair.server.receive())
        sent--;
    CHECK(sent == 0);
    CHECK(pair.client.send(packet));
}

TEST_CASE("a peer that closed is gone, after its last packet")
{
    Pair pair;
    REQUIRE(pair.client.send("last words"));

    pair.client.close();

    CHECK(*pair.server.receive() == "last words");
    CHECK(code_of(pair.server.receive()) == Code::gone);
    CHECK(code_of(pair.server.send("x")) == Code::gone); // and no SIGPIPE
}

TEST_CASE("nobody calls: busy; nobody listens: not found")
{
    TemporaryDirectory directory;
    auto listener = PacketSocket::listen(directory.path + "/sock", 0600);
    REQUIRE(listener);

    CHECK(code_of(listener->accept()) == Code::busy);
    CHECK(code_of(PacketSocket::connect(directory.path + "/none")) ==
          Code::not_found);
    std::string path = directory.path + "/sock";
    listener->close();
    CHECK(code_of(PacketSocket::connect(path)) == Code::not_found);
}

TEST_CASE("the socket that a dead agent left is replaced")
{
    TemporaryDirectory directory;
    std::string path = directory.path + "/sock";
    auto first = PacketSocket::listen(path, 0600);
    REQUIRE(first);
    first->close(); // as a kill does: the file stays
    REQUIRE(access(path.c_str(), F_OK) == 0);

    auto second = PacketSocket::listen(path, 0600);

    REQUIRE(second);
    CHECK(PacketSocket::connect(path));
}

TEST_CASE("a listener that is replaced keeps its callers, and gets no new ones")
{
    TemporaryDirectory directory;
    std::string path = directory.path + "/sock";
    auto first = PacketSocket::listen(path, 0600);
    REQUIRE(first);
    CHECK(first->file() == socket_file(path));
    auto caller = PacketSocket::connect(path);
    REQUIRE(caller);

    auto second = PacketSocket::listen(path, 0600);
    REQUIRE(second);
    auto late = PacketSocket::connect(path);
    REQUIRE(late);

    CHECK(second->file() == socket_file(path));
    CHECK_FALSE(first->file() == second->file());
    CHECK(first->accept());
    CHECK_FALSE(first->accept());
    CHECK(second->accept());
    CHECK(std::ranges::distance(
              std::filesystem::directory_iterator(directory.path)) == 1);
}

// Its pid may be ours: containers that share the directory count for
// themselves.
TEST_CASE("what another process is about to put in place is left alone")
{
    TemporaryDirectory directory;
    std::string theirs = directory.path + "/." + std::to_string(getpid());
    auto other = PacketSocket::listen(theirs, 0600);
    REQUIRE(other);

    auto mine = PacketSocket::listen(directory.path + "/sock", 0600);

    REQUIRE(mine);
    CHECK(PacketSocket::connect(theirs));
}

// A stopped agent accepts nobody, and is there all the same.
TEST_CASE("a listener whose queue of callers is full is busy, not gone")
{
    TemporaryDirectory directory;
    std::string path = directory.path + "/sock";
    auto listener = PacketSocket::listen(path, 0600);
    REQUIRE(listener);
    std::vector<PacketSocket> callers;
    auto caller = PacketSocket::connect(path);
    for (; caller && callers.size() < 100; caller = PacketSocket::connect(path))
        callers.push_back(std::move(*caller));

    CHECK(code_of(caller) == Code::busy);
}

TEST_CASE("a file that is not a socket is never deleted")
{
    TemporaryDirectory directory;
    std::string path = directory.path + "/precious";
    std::ofstream(path) << "data";

    auto listener = PacketSocket::listen(path, 0600);

    CHECK_FALSE(listener);
    CHECK(std::ifstream(path).peek() == 'd');
}

TEST_CASE("a path that no socket can have is rejected in words")
{
    for (const std::string &path :
         {std::string(), std::string(108, 'x'), std::string(100000, 'x')}) {
        CAPTURE(path.size());
        CHECK(code_of(PacketSocket::listen(path, 0600)) == Code::rejected);
        CHECK(code_of(PacketSocket::connect(path)) == Code::rejected);
    }
    CHECK_FALSE(PacketSocket::listen("/nonexistent/sock", 0600));
}

TEST_CASE("a socket that is moved from is closed once")
{
    Pair pair;
    int fd = pair.client.fd();

    PacketSocket moved = std::move(pair.client);
    PacketSocket &same = moved;
    moved = std::move(same);

    CHECK(moved.fd() == fd);
    CHECK_FALSE(pair.client.is_open());
    CHECK(moved.send("x"));
    moved = PacketSocket();
    CHECK(code_of(pair.server.send("x")) == Code::gone);
}
