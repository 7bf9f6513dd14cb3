// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/hook_server.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <variant>
#include <vector>

using namespace bridge;
using Type = HookMessage::Type;

namespace {

constexpr std::chrono::seconds patience{10}; // only a bug takes that long
constexpr JobRef job{7, Sluid{77}};

struct Lost {};
using Heard = std::variant<HookMessage, Lost>;

// A server on a socket of its own, and what it told its owner.
struct Fixture {
    TemporaryDirectory directory;
    std::string path = directory.path + "/hook.sock";
    Mailbox<Heard> heard;
    std::atomic<PluginConnection> newest = 0;
    std::atomic<bool> shut = false;
    WriteGate gate{[this]() -> Result<> {
                       if (shut)
                           return fail(Code::busy, "shut");
                       return {};
                   },
                   {}};
    std::unique_ptr<HookServer> server;

    Fixture()
    {
        auto started =
            HookServer::start(path,
                              {[this](HookMessage m, PluginConnection from) {
                                   newest = from;
                                   heard.push(std::move(m));
                               },
                               [this] { heard.push(Lost{}); }},
                              gate);
        REQUIRE(started);
        server = std::move(*started);
    }

    void send(HookMessage message) { server->send(std::move(message), newest); }

    HookMessage message()
    {
        auto next = heard.pop_until(Clock::now() + patience);
        REQUIRE(next);
        REQUIRE(std::holds_alternative<HookMessage>(*next));
        return std::get<HookMessage>(*next);
    }

    void expect_lost()
    {
        auto next = heard.pop_until(Clock::now() + patience);
        REQUIRE(next);
        CHECK(std::holds_alternative<Lost>(*next));
    }
};

// slurmctld's side.
struct Plugin {
    PacketSocket socket;

    explicit Plugin(Fixture &fixture)
    {
        auto connected = PacketSocket::connect(fixture.path);
        REQUIRE(connected);
        socket = std::move(*connected);
        say({.type = Type::hello, .version = 1, .cluster = "c", .host = "h"});
        REQUIRE(fixture.message().type == Type::hello);
    }

    void say(const HookMessage &message)
    {
        REQUIRE(socket.send(encode(message)));
    }

    // The next packet, or nothing when the server closed.
    std::optional<HookMessage> hear()
    {
        pollfd fd{socket.fd(), POLLIN, 0};
        REQUIRE(poll(&fd, 1, 10'000) == 1);
        auto packet = socket.receive();
        if (!packet)
            return std::nullopt;
        auto message = decode_hook_message(*packet);
        REQUIRE(message);
        return *message;
    }
};

} // namespace

TEST_CASE("what the plugin says is handed on in its order")
{
    Fixture fixture;
    Plugin plugin(fixture);
    const HookMessage allocated{
        .type = Type::allocated, .job = job, .nodes = "n1", .ours = true};
    const HookMessage ended{.type = Type::ended, .job = job, .nodes = "n1"};

    plugin.say(allocated);
    plugin.say(ended);
    plugin.say({.type = Type::resync});

    CHECK(fixture.server->connected());
    CHECK(fixture.message() == allocated);
    CHECK(fixture.message() == ended);
    CHECK(fixture.message().type == Type::resync);
}

TEST_CASE("a ping is answered and is nobody else's business")
{
    Fixture fixture;
    Plugin plugin(fixture);

    plugin.say({.type = Type::ping});
    plugin.say({.type = Type::pong});
    plugin.say({.type = Type::resync});

    CHECK(plugin.hear() == HookMessage{.type = Type::pong});
    CHECK(fixture.message().type == Type::resync);
}

TEST_CASE("what the agent says reaches the plugin in its order")
{
    Fixture fixture;
    Plugin plugin(fixture);

    fixture.send({.type = Type::start, .job = job});
    fixture.send({.type = Type::clean, .job = job});

    CHECK(plugin.hear() == HookMessage{.type = Type::start, .job = job});
    CHECK(plugin.hear() == HookMessage{.type = Type::clean, .job = job});
}

TEST_CASE("while the gate is shut no hook is let go, and none is forgotten")
{
    Fixture fixture;
    Plugin plugin(fixture);
    fixture.shut = true;

    fixture.send({.type = Type::bridge, .nodes = "n1"});
    fixture.send({.type = Type::start, .job = job});
    CHECK(plugin.hear()->type == Type::bridge); // it writes nothing
    pollfd fd{plugin.socket.fd(), POLLIN, 0};
    CHECK(poll(&fd, 1, 300) == 0);
    fixture.shut = false;

    CHECK(plugin.hear() == HookMessage{.type = Type::start, .job = job});
}

TEST_CASE("kicks that have gathered become few")
{
    Fixture fixture;
    Plugin plugin(fixture);
    const std::string nodes(50'000, 'n');
    constexpr int many = 200; // the socket is full: what follows gathers

    for (int i = 0; i < many; i++)
        fixture.send({.type = Type::bridge, .nodes = nodes});
    for (int i = 0; i < many; i++)
        fixture.send({.type = Type::kick});
    fixture.send({.type = Type::start, .job = job});

    for (int i = 0; i < many; i++)
        REQUIRE(plugin.hear()->type == Type::bridge);
    CHECK(plugin.hear()->type == Type::start);
    CHECK(plugin.hear()->type == Type::kick);
    plugin.say({.type = Type::ping});
    CHECK(plugin.hear()->type == Type::pong); // there was no other
}

TEST_CASE("no kick is saved that came after another one was sent")
{
    Fixture fixture;
    Plugin plugin(fixture);

    for (int i = 0; i < 300; i++) {
        fixture.send({.type = Type::kick});
        REQUIRE(plugin.hear()->type == Type::kick);
    }
}

TEST_CASE("a packet that is no message is dropped, and the plugin stays")
{
    Fixture fixture;
    Plugin plugin(fixture);

    REQUIRE(plugin.socket.send("nonsense"));
    REQUIRE(plugin.socket.send("{\"type\":\"allocated\"}"));
    REQUIRE(plugin.socket.send("{\"type\":\"from the future\"}"));
    plugin.say({.type = Type::resync});

    HookMessage next = fixture.message();
    if (next.type == Type::unknown) // handed on, to be ignored there
        next = fixture.message();
    CHECK(next.type == Type::resync);
}

TEST_CASE("a packet that is too long is dropped, the connection stays")
{
    Fixture fixture;
    Plugin plugin(fixture);

    // A plugin of an earlier release would send it again after each connect.
    REQUIRE(plugin.socket.send(std::string(max_packet + 1, 'x')));
    plugin.say({.type = Type::ended, .job = job, .nodes = "n1"});

    CHECK(fixture.message().type == Type::ended);
    fixture.send({.type = Type::clean, .job = job});
    CHECK(plugin.hear()->type == Type::clean);
}

TEST_CASE("a plugin that goes away is lost, and another may come")
{
    Fixture fixture;
    {
        Plugin first(fixture);
    }
    fixture.expect_lost();

    fixture.send({.type = Type::kick}); // to nobody: dropped
    Plugin second(fixture);
    fixture.send({.type = Type::start, .job = job});

    CHECK(second.hear()->type == Type::start);
}

TEST_CASE("what was meant for an earlier plugin never reaches a later one")
{
    Fixture fixture;
    PluginConnection earlier = 0;
    {
        Plugin first(fixture);
        earlier = fixture.newest;
    }
    fixture.expect_lost();
    Plugin second(fixture);
    REQUIRE(fixture.newest != earlier);

    fixture.server->send({.type = Type::synced}, earlier);
    fixture.send({.type = Type::start, .job = job});
    fixture.server->send({.type = Type::kick}, any_plugin);

    CHECK(second.hear() == HookMessage{.type = Type::start, .job = job});
    CHECK(second.hear()->type == Type::kick);
    pollfd fd{second.socket.fd(), POLLIN, 0};
    CHECK(poll(&fd, 1, 300) == 0);
}

TEST_CASE("a newer plugin replaces the older, as after a reconfigure")
{
    Fixture fixture;
    Plugin older(fixture);

    auto connected = PacketSocket::connect(fixture.path);
    REQUIRE(connected);
    older.say({.type = Type::resync}); // it is still the one that is served
    CHECK(fixture.message().type == Type::resync);
    REQUIRE(connected->send(encode({.type = Type::hello, .version = 1})));

    fixture.expect_lost();
    CHECK(fixture.message().type == Type::hello);
    CHECK_FALSE(older.hear());
    CHECK(fixture.server->connected());
}

TEST_CASE("a plugin that does not read stops nobody, and gets all in the end")
{
    Fixture fixture;
    Plugin plugin(fixture);
    const std::string nodes(50'000, 'n');
    constexpr int many = 200; // some 10 MB: far more than a socket holds

    for (int i = 0; i < many; i++)
        fixture.send({.type = Type::bridge, .nodes = nodes});
    fixture.send({.type = Type::start, .job = job});

    int heard = 0;
    for (auto m = plugin.hear(); m->type == Type::bridge; m = plugin.hear())
        heard++;
    CHECK(heard == many);
}

TEST_CASE("a second server on the same socket is refused, and disturbs nobody")
{
    Fixture fixture;
    Plugin plugin(fixture);

    auto second = HookServer::start(fixture.path, {}, fixture.gate);

    REQUIRE_FALSE(second);
    CHECK(second.error().code == Code::conflict);
    CHECK(fixture.server->socket() == socket_file(fixture.path));
    fixture.send({.type = Type::start, .job = job});
    CHECK(plugin.hear()->type == Type::start);
}

// One that is stopped: the kernel accepts callers for it, and it says nothing.
TEST_CASE("the socket of a server that does not answer is taken")
{
    TemporaryDirectory directory;
    std::string path = directory.path + "/hook.sock";
    auto stopped = PacketSocket::listen(path, 0600);
    REQUIRE(stopped);
    WriteGate gate([] { return Result<>(); }, {});

    auto server = HookServer::start(path, {}, gate);

    REQUIRE(server);
    CHECK((*server)->socket() == socket_file(path));
    CHECK_FALSE(stopped->file() == socket_file(path));
}

TEST_CASE("of many callers who say nothing only some are kept")
{
    Fixture fixture;
    std::vector<PacketSocket> silent;
    for (int i = 0; i < 12; i++) {
        auto caller = PacketSocket::connect(fixture.path);
        REQUIRE(caller);
        silent.push_back(std::move(*caller));
    }
    Plugin plugin(fixture); // accepted behind all of them

    int open = 0;
    for (PacketSocket &caller : silent)
        open += caller.receive().error().code == Code::busy;
    CHECK(open < 9);
}

TEST_CASE("a server ends with or without a plugin")
{
    Fixture alone;
    alone.server.reset();

    Fixture served;
    Plugin plugin(served);
    served.server.reset();
    CHECK_FALSE(plugin.hear());
    CHECK_FALSE(PacketSocket::connect(served.path));
}
