// SPDX-License-Identifier: GPL-2.0-or-later
// What a link does with hooks that wait too long, and when control changes.
#include "tests/unit/plugins/prep/agent_link_bed.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

// n1 is dirty by a job of ours, and JobId=2 waits for it longer than it may.
struct OverdueBed : LinkBed {
    OverdueBed()
    {
        settings.look = 5ms;
        settings.gate_timeout = 20ms;
    }

    static void begin(AgentLink &link)
    {
        link.epilog(ours(1));
        CHECK(link.prolog(ordinary(2, "n1")));
    }
};

} // namespace

TEST_CASE("a job that a dirty node kept too long is requeued after its drain")
{
    OverdueBed f;
    f.slurmctld.drains_work = false;
    f.make();
    OverdueBed::begin(*f.link);
    f.run();

    auto drains = f.slurmctld.wait_drains(2); // it is tried again
    REQUIRE(drains.size() >= 2);
    CHECK(drains[0] == std::string("n1: ") + names::gate_drain_reason);
    CHECK(f.slurmctld.wait_requeues(0).empty());
    f.slurmctld.drains_work = true;

    CHECK(f.slurmctld.wait_requeues(1)[0] == ordinary(2, "").job);
    // slurmctld calls the epilog while it requeues the job.
    f.link->epilog(ordinary(2, "n1"));
    CHECK(f.slurmctld.wait_finished(1) ==
          std::vector<Release>{{Hook::prolog, 2, 0}});
}

TEST_CASE("a job that cannot be requeued fails when its node is drained")
{
    OverdueBed f;
    f.slurmctld.requeues_work = false;
    f.make();
    OverdueBed::begin(*f.link);
    f.run();

    CHECK(f.slurmctld.wait_finished(1) ==
          std::vector<Release>{{Hook::prolog, 2, 256}});
    CHECK_FALSE(f.slurmctld.wait_drains(1).empty());
}

TEST_CASE("a drain that takes its time stops no other job")
{
    struct Slow final : FakeSlurmctld {
        Result<> drain(const std::string &, const std::string &) override
        {
            begun.release();
            go_on.acquire();
            return {};
        }
        std::binary_semaphore begun{0}, go_on{0};
    } slow;
    OverdueBed f;
    AgentLink link(slow, f.settings);
    OverdueBed::begin(link);
    std::jthread thread([&] { link.run(); });
    slow.begun.acquire();

    link.prolog(ours(3));
    link.epilog(ours(3));

    CHECK(slow.wait_finished(1) == std::vector<Release>{{Hook::prolog, 3, 0}});
    slow.go_on.release();
    CHECK(slow.wait_requeues(1).size() == 1);
    link.stop();
}

TEST_CASE("a slurmctld that is not in control holds hooks, and does no more")
{
    LinkBed f;
    f.settings.look = 1ms;
    f.settings.gate_timeout = 1ms;
    f.settings.gate_file = f.gate_file();
    auto listener = f.listen();
    f.run();
    std::optional<FakeAgent> agent(listener);
    CHECK(agent->next().type == Type::hello);
    f.slurmctld.set_control(Control::unknown);
    CHECK(agent->next().type == Type::unknown); // disconnected

    CHECK(f.link->prolog(ours(1)));
    CHECK(f.link->epilog(ours(1)));
    CHECK(f.link->prolog(ordinary(2, "n1")));
    f.slurmctld.set_control(Control::unknown); // some turns

    CHECK(f.slurmctld.wait_finished(0).empty());
    CHECK(f.slurmctld.wait_drains(0).empty());
    CHECK_FALSE(readable(listener, 0ms));
    CHECK_FALSE(std::filesystem::exists(f.gate_file()));

    f.slurmctld.set_control(Control::ours);
    CHECK(f.slurmctld.wait_finished(1)[0] == Release{Hook::prolog, 1, 0});
    agent.emplace(listener);
    CHECK(agent->next().type == Type::hello);
    CHECK(agent->next().type == Type::ended);
}

TEST_CASE("a slurmctld that gives control back drops what it asked for")
{
    LinkBed f;
    f.settings.look = 1ms;
    f.settings.gate_file = f.gate_file();
    auto listener = f.listen();
    f.run();
    std::optional<FakeAgent> agent(listener);
    agent->next();
    f.link->prolog(ours(1));
    CHECK(agent->next().job == ours(1).job);
    f.slurmctld.set_control(Control::unknown);
    CHECK(agent->next().type == Type::unknown); // disconnected
    f.link->prolog(ours(2)); // started before that, and is late
    f.slurmctld.set_control(Control::others);
    // The one in control knows of Pods on n7.
    int before = f.slurmctld.wait_recalls(0);
    REQUIRE(GateFile(f.gate_file()).save({{"n7"}, {"n7"}}));
    CHECK(f.slurmctld.wait_recalls(before + 1) > before);

    // The second takeover, like the first.
    CHECK(f.link->prolog(ours(1)));
    CHECK(f.link->prolog(ordinary(3, "n7")));
    CHECK_FALSE(f.link->prolog(ordinary(4, "n8")));
    f.slurmctld.set_control(Control::ours);
    agent.emplace(listener);
    CHECK(agent->next().type == Type::hello);
    CHECK(agent->next().job == ours(1).job);
    CHECK(agent->next().job == ordinary(3, "").job);
    agent->say(Type::start, ours(1).job);
    CHECK(f.slurmctld.wait_finished(1) ==
          std::vector<Release>{{Hook::prolog, 1, 0}});
    CHECK(GateFile(f.gate_file()).load() == GateMemory{{"n7"}, {"n7"}});
}

TEST_CASE("a takeover after a standby that nobody saw begins anew")
{
    LinkBed f;
    f.settings.look = 1ms;
    auto listener = f.listen();
    f.run();
    std::optional<FakeAgent> agent(listener);
    agent->next();
    f.link->prolog(ours(1));
    f.link->prolog(ours(2));
    agent->next();
    f.slurmctld.set_control(Control::unknown);
    f.link->prolog(ours(2)); // the takeover repeats it
    f.slurmctld.set_control(Control::ours, true);

    agent.emplace(listener);
    CHECK(agent->next().type == Type::hello);
    CHECK(agent->next().job == ours(2).job);
    agent->say(Type::start, ours(1).job);
    agent->say(Type::start, ours(2).job);
    CHECK(f.slurmctld.wait_finished(1) ==
          std::vector<Release>{{Hook::prolog, 2, 0}});
}

TEST_CASE("a packet that is too long is dropped, the agent is kept")
{
    LinkBed f;
    auto listener = f.listen();
    f.run();
    FakeAgent agent(listener);
    agent.next();

    agent.say(std::string(max_packet + 1, 'x'));
    agent.say(Type::kick);

    CHECK(f.slurmctld.wait_kicks(1) == 1);
}

TEST_CASE("with a gate file that it cannot use, a slurmctld holds every job")
{
    LinkBed f;
    f.settings.look = 5ms;
    f.settings.gate_file = f.gate_file();
    const std::string newer = R"({"version":9})";
    std::ofstream(f.gate_file()) << newer;
    f.make();
    CHECK(f.link->prolog(ordinary(1, "n1")));
    CHECK(f.link->prolog(ordinary(2, "n2")));
    auto listener = f.listen();
    f.run();
    f.slurmctld.set_control(Control::ours); // some turns
    std::ifstream file(f.gate_file());
    CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == newer);

    FakeAgent agent(listener);
    agent.next();
    send_node_lists(agent, "n1", "");

    CHECK(f.slurmctld.wait_finished(2).size() == 2);
    CHECK(f.slurmctld.wait_drains(0).empty());
}

TEST_CASE("a slurmctld that starts anew holds back the bridge nodes of before")
{
    LinkBed f;
    f.settings.look = 5ms;
    f.settings.gate_file = f.gate_file();
    auto listener = f.listen();
    f.run();
    {
        FakeAgent agent(listener);
        agent.next();
        send_node_lists(agent, "n1", "n1");
        GateMemory wanted{{"n1"}, {"n1"}};
        for (auto end = std::chrono::steady_clock::now() + patience;
             GateFile(f.gate_file()).load() != wanted;)
            REQUIRE(std::chrono::steady_clock::now() < end);
    }
    f.link->stop();
    f.thread.join();

    AgentLink next(f.slurmctld, f.settings);
    CHECK(next.prolog(ordinary(2, "n1")));
    CHECK_FALSE(next.prolog(ordinary(3, "n2")));
    std::jthread thread([&] { next.run(); });
    FakeAgent agent(listener);
    CHECK(agent.next().type == Type::hello);
    HookMessage allocated = agent.next();
    CHECK(allocated.dirty == "n1");
    CHECK_FALSE(allocated.ours);
    send_node_lists(agent, "n1", "");

    CHECK(f.slurmctld.wait_finished(1) ==
          std::vector<Release>{{Hook::prolog, 2, 0}});
    next.stop();
}

TEST_CASE("bridge nodes are held back no longer than the timeout")
{
    LinkBed f;
    f.settings.look = 5ms;
    f.settings.gate_timeout = 20ms;
    f.settings.gate_file = f.gate_file();
    REQUIRE(GateFile(f.gate_file()).save({{"n1"}, {}}));
    f.make();
    CHECK(f.link->prolog(ordinary(1, "n1")));
    f.run();

    CHECK(f.slurmctld.wait_finished(1) ==
          std::vector<Release>{{Hook::prolog, 1, 0}});
    CHECK(f.slurmctld.wait_drains(0).empty());
}

TEST_CASE("a standby takes over with what the other slurmctld wrote last")
{
    LinkBed f;
    f.settings.look = 5ms;
    f.settings.gate_file = f.gate_file();
    f.make();
    f.run();
    REQUIRE(GateFile(f.gate_file()).save({{"n1"}, {}}));

    CHECK(f.slurmctld.wait_recalls(1) == 1);

    CHECK(f.link->prolog(ordinary(1, "n1")));
    CHECK(GateFile(f.gate_file()).load() == GateMemory{{"n1"}, {}});
}
