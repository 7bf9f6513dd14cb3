// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/plugins/prep/agent_link_bed.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("the link says hello first")
{
    LinkBed f;
    auto listener = f.listen();
    f.run();
    f.link->prolog(ours(1));

    FakeAgent agent(listener);
    HookMessage hello = agent.next();

    CHECK(hello.type == Type::hello);
    CHECK(hello.version == hook_protocol_version);
    CHECK(hello.cluster == "test");
    CHECK(hello.host == "here");
}

TEST_CASE("a held prolog is told and ends when the agent says start")
{
    LinkBed f;
    auto listener = f.listen();
    f.run();
    FakeAgent agent(listener);
    CHECK(agent.next().type == Type::hello);

    CHECK(f.link->prolog(ours(1)));
    HookMessage allocated = agent.next();
    agent.say(Type::start, allocated.job);

    CHECK(allocated.type == Type::allocated);
    CHECK(allocated.job == ours(1).job);
    CHECK(allocated.nodes == "n1");
    CHECK(f.slurmctld.wait_finished(1) ==
          std::vector<Release>{{Hook::prolog, 1, 0}});
}

TEST_CASE(
    "a job on an unprotected node is told, and waits until the agent says "
    "that it is protected")
{
    LinkBed f;
    auto listener = f.listen();
    f.run();
    FakeAgent agent(listener);
    CHECK(agent.next().type == Type::hello);
    agent.say(encode({.type = Type::unprotected, .nodes = "w1"}));
    agent.wait_heard();
    REQUIRE(f.link->prolog(ordinary(1, "w1")));
    CHECK(agent.next().unprotected);
    agent.say(encode({.type = Type::unprotected}));
    CHECK(f.slurmctld.wait_finished(1) ==
          std::vector<Release>{{Hook::prolog, 1, 0}});
}

TEST_CASE("without a word of the agent a job waits for protection for two "
          "seconds")
{
    LinkBed f;
    auto listener = f.listen();
    f.run();
    FakeAgent agent(listener);
    CHECK(agent.next().type == Type::hello);
    agent.say(encode({.type = Type::unprotected, .nodes = "w1"}));
    agent.wait_heard();
    REQUIRE(f.link->prolog(ordinary(1, "w1")));
    auto began = std::chrono::steady_clock::now();
    CHECK(f.slurmctld.wait_finished(1) ==
          std::vector<Release>{{Hook::prolog, 1, 0}});
    auto took = std::chrono::steady_clock::now() - began;
    CHECK(took > 1500ms);
}

TEST_CASE("a held epilog is told and ends when the agent says clean")
{
    LinkBed f;
    auto listener = f.listen();
    f.run();
    FakeAgent agent(listener);
    agent.next();

    CHECK(f.link->epilog(ours(1)));
    HookMessage ended = agent.next();
    agent.say(Type::clean, ended.job);

    CHECK(ended.type == Type::ended);
    CHECK(f.slurmctld.wait_finished(1) ==
          std::vector<Release>{{Hook::epilog, 1, 0}});
}

TEST_CASE("the callback for a job that ended while held needs no agent")
{
    LinkBed f;
    f.run();

    CHECK(f.link->prolog(ours(1)));
    CHECK(f.link->epilog(ours(1)));

    CHECK(f.slurmctld.wait_finished(1) ==
          std::vector<Release>{{Hook::prolog, 1, 0}});
}

TEST_CASE("what is unfinished is told again after each connect")
{
    LinkBed f;
    f.make();
    f.link->prolog(ours(1)); // before there is any agent
    f.link->epilog(ours(2));
    f.run();
    auto listener = f.listen();

    for (int life = 0; life < 3; life++) {
        CAPTURE(life);
        FakeAgent agent(listener);

        CHECK(agent.next().type == Type::hello);
        CHECK(agent.next().type == Type::ended);
        CHECK(agent.next().type == Type::allocated);
    }
}

TEST_CASE("what is finished is not told again")
{
    LinkBed f;
    auto listener = f.listen();
    f.run();
    {
        FakeAgent agent(listener);
        agent.next();
        f.link->prolog(ours(1));
        agent.say(Type::start, agent.next().job);
        f.slurmctld.wait_finished(1);
    }
    f.link->prolog(ours(2));
    FakeAgent agent(listener);

    CHECK(agent.next().type == Type::hello);
    CHECK(agent.next().job == ours(2).job);
}

TEST_CASE("hints beyond the queue's limit are dropped, and told later")
{
    LinkBed f;
    f.settings.queue_limit = 2;
    f.make();
    for (JobId id = 1; id <= 5; id++)
        CHECK(f.link->prolog(ours(id)));
    auto listener = f.listen();
    f.run();
    FakeAgent agent(listener);

    CHECK(agent.next().type == Type::hello);
    CHECK(agent.next().job == ours(1).job);
    CHECK(agent.next().job == ours(2).job);
    CHECK(agent.next().type == Type::resync);
    CHECK(agent.next().job == ours(3).job);
    CHECK(agent.next().job == ours(4).job);
    CHECK(agent.next().type == Type::resync);
    CHECK(agent.next().job == ours(5).job);
    f.link->prolog(ours(6));
    CHECK(agent.next().job == ours(6).job);
}

TEST_CASE("kicks that come together run the scheduler at least once")
{
    LinkBed f;
    auto listener = f.listen();
    f.run();
    FakeAgent agent(listener);
    agent.next();

    for (int i = 0; i < 10; i++)
        agent.say(Type::kick);
    int kicks = f.slurmctld.wait_kicks(1);

    CHECK(kicks >= 1);
    CHECK(kicks <= 10);
}

TEST_CASE("a silent agent is left for a new connection")
{
    LinkBed f;
    f.settings.ping = 5ms;
    f.settings.silence = 20ms;
    auto listener = f.listen();
    f.run();

    FakeAgent silent(listener);
    CHECK(silent.next().type == Type::hello);
    CHECK(silent.next().type == Type::unknown); // disconnected

    FakeAgent again(listener);
    CHECK(again.next().type == Type::hello);
}

TEST_CASE("an agent that answers pings is kept, and pings are answered")
{
    LinkBed f;
    f.settings.ping = 5ms;
    auto listener = f.listen();
    f.run();
    REQUIRE(readable(listener, patience));
    auto agent = listener.accept();
    REQUIRE(agent);

    int pings = 0, pongs = 0;
    HookMessage ping;
    ping.type = Type::ping;
    while ((pings < 3 || pongs < 3) && readable(*agent, patience)) {
        auto packet = agent->receive();
        REQUIRE(packet);
        Type type = decode_hook_message(*packet)->type;
        pings += type == Type::ping;
        pongs += type == Type::pong;
        if (type == Type::ping)
            REQUIRE(agent->send(encode(ping)));
    }

    CHECK(pings >= 3);
    CHECK(pongs >= 3);
    CHECK_FALSE(readable(listener, 0ms));
}

TEST_CASE("a new socket at the path is a new agent")
{
    LinkBed f;
    f.settings.look = 5ms;
    auto listener = f.listen();
    f.run();
    FakeAgent old(listener);
    CHECK(old.next().type == Type::hello);

    std::filesystem::rename(f.settings.socket_path,
                            f.settings.socket_path + ".old");
    auto successor = f.listen();

    FakeAgent agent(successor);
    CHECK(agent.next().type == Type::hello);
    CHECK(old.next().type == Type::unknown); // disconnected
}

TEST_CASE("rubbish and unknown messages are ignored")
{
    LinkBed f;
    auto listener = f.listen();
    f.run();
    FakeAgent agent(listener);
    agent.next();

    agent.say("{");
    agent.say(R"({"type":"start"})");
    agent.say(R"({"type":"sing","job":1})");
    agent.say(Type::start, {77, Sluid{77}});
    agent.say(Type::kick);

    CHECK(f.slurmctld.wait_kicks(1) == 1);
    f.link->prolog(ours(1));
    CHECK(agent.next().type == Type::allocated);
}

TEST_CASE("hooks do not wait for an agent that reads nothing")
{
    LinkBed f;
    f.settings.queue_limit = 100;
    auto listener = f.listen();
    f.run();
    FakeAgent agent(listener);
    CHECK(agent.next().type == Type::hello);

    for (JobId id = 1; id <= 5000; id++) // far more than a socket holds
        f.link->prolog(ours(id));

    int allocated = 0;
    HookMessage message = agent.next();
    for (; message.type == Type::allocated; message = agent.next())
        allocated++;
    CHECK(allocated >= 100);
    CHECK(allocated < 5000);
    CHECK(message.type == Type::resync);
}
