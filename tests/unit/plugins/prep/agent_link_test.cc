// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/agent_link.h"

#include "common/contract/names.h"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <poll.h>
#include <semaphore>
#include <thread>

using namespace bridge;
using namespace std::chrono_literals;
using Type = HookMessage::Type;

namespace {

constexpr auto patience = 60s; // only a failing test ever waits so long

class FakeSlurmctld : public Slurmctld {
  public:
    std::vector<std::string> nodes_of(const std::string &hostlist) override
    {
        return {hostlist};
    }
    void finish(const Release &release) override
    {
        note([&] { finished_.push_back(release); });
    }
    void kick() override
    {
        note([&] { kicks_++; });
    }
    Result<> drain(const std::string &node, const std::string &reason) override
    {
        note([&] { drains_.push_back(node + ": " + reason); });
        if (!drains_work)
            return bridge::fail(Code::busy, "no drain");
        return {};
    }
    Result<> requeue(JobRef job) override
    {
        note([&] { requeues_.push_back(job); });
        if (!requeues_work)
            return bridge::fail(Code::rejected, "no requeue");
        return {};
    }
    ControlWatch::Finding control() override
    {
        std::lock_guard lock(mutex_);
        ControlWatch::Finding found{control_, new_term_};
        if (control_ == Control::ours)
            new_term_ = false;
        looks_++;
        changed_.notify_all();
        return found;
    }

    // Returns when the link has acted on it.
    void set_control(Control control, bool new_term = false)
    {
        std::unique_lock lock(mutex_);
        control_ = control;
        new_term_ = new_term;
        int enough = looks_ + 4;
        changed_.wait_for(lock, patience, [&] { return looks_ >= enough; });
    }
    void log(LogLevel, const std::string &line) override
    {
        note([&] { recalls_ += line.starts_with("recalled"); });
    }

    std::atomic<bool> drains_work = true;
    std::atomic<bool> requeues_work = true;

    std::vector<std::string> wait_drains(std::size_t count)
    {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, patience,
                          [&] { return drains_.size() >= count; });
        return drains_;
    }

    std::vector<JobRef> wait_requeues(std::size_t count)
    {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, patience,
                          [&] { return requeues_.size() >= count; });
        return requeues_;
    }

    std::vector<Release> wait_finished(std::size_t count)
    {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, patience,
                          [&] { return finished_.size() >= count; });
        return finished_;
    }
    int wait_recalls(int count)
    {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, patience, [&] { return recalls_ >= count; });
        return recalls_;
    }
    int wait_kicks(int count)
    {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, patience, [&] { return kicks_ >= count; });
        return kicks_;
    }

  private:
    void note(const std::function<void()> &change)
    {
        std::lock_guard lock(mutex_);
        change();
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Release> finished_;
    std::vector<std::string> drains_;
    std::vector<JobRef> requeues_;
    Control control_ = Control::ours;
    bool new_term_ = false;
    int looks_ = 0;
    int kicks_ = 0;
    int recalls_ = 0;
};

class TempDir {
  public:
    TempDir()
    {
        std::string name =
            (std::filesystem::temp_directory_path() / "agent_link.XXXXXX");
        path_ = mkdtemp(name.data());
    }
    ~TempDir() { std::filesystem::remove_all(path_); }
    std::string socket() const { return path_ / "hook.sock"; }
    std::string gate() const { return path_ / "gate"; }

  private:
    std::filesystem::path path_;
};

bool readable(const PacketSocket &socket, std::chrono::milliseconds timeout)
{
    pollfd fd{.fd = socket.fd(), .events = POLLIN, .revents = 0};
    return poll(&fd, 1, static_cast<int>(timeout.count())) > 0;
}

// The agent's side of one connection.
class FakeAgent {
  public:
    explicit FakeAgent(PacketSocket &listener)
    {
        REQUIRE(readable(listener, patience));
        auto accepted = listener.accept();
        REQUIRE(accepted);
        socket_ = std::move(*accepted);
    }

    // The next message that is neither ping nor pong; unknown: disconnected.
    HookMessage next()
    {
        while (readable(socket_, patience)) {
            auto packet = socket_.receive();
            if (!packet)
                return {};
            auto message = decode_hook_message(*packet);
            REQUIRE(message);
            if (message->type != Type::ping && message->type != Type::pong)
                return *message;
        }
        FAIL("the link says nothing");
        return {};
    }
    // Until the link has obeyed all that was said.
    void wait_heard()
    {
        say(Type::ping);
        while (readable(socket_, patience)) {
            auto packet = socket_.receive();
            REQUIRE(packet);
            if (decode_hook_message(*packet)->type == Type::pong)
                return;
        }
        FAIL("the link does not answer");
    }
    void say(Type type, JobRef job = {})
    {
        HookMessage message;
        message.type = type;
        message.job = job;
        REQUIRE(socket_.send(encode(message)));
    }
    void say(std::string_view packet) { REQUIRE(socket_.send(packet)); }

  private:
    PacketSocket socket_;
};

// A link with its thread, against a socket of our own.
struct Fixture {
    TempDir dir;
    FakeSlurmctld slurmctld;
    LinkSettings settings{.socket_path = dir.socket(),
                          .cluster = "test",
                          .host = "here",
                          .first_retry = 5ms,
                          .last_retry = 20ms};
    std::optional<AgentLink> link;
    std::jthread thread;

    PacketSocket listen()
    {
        auto listener = PacketSocket::listen(dir.socket(), 0600);
        REQUIRE(listener);
        return std::move(*listener);
    }
    void make() { link.emplace(slurmctld, settings); }
    void run()
    {
        if (!link)
            make();
        thread = std::jthread([this] { link->run(); });
    }
    ~Fixture()
    {
        if (link)
            link->stop();
    }
};

JobFacts ordinary(JobId id, const std::string &node)
{
    return {{id, Sluid{100 + id}}, node, false};
}

void send_node_lists(FakeAgent &agent, const std::string &bridge_nodes,
                     const std::string &dirty)
{
    agent.say(encode({.type = Type::bridge, .nodes = bridge_nodes}));
    agent.say(encode({.type = Type::synced, .dirty = dirty}));
}

JobFacts ours(JobId id)
{
    return {{id, Sluid{100 + id}}, "n" + std::to_string(id), true};
}

} // namespace

TEST_CASE("the link says hello first")
{
    Fixture f;
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
    Fixture f;
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
    Fixture f;
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
    Fixture f;
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
    Fixture f;
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
    Fixture f;
    f.run();

    CHECK(f.link->prolog(ours(1)));
    CHECK(f.link->epilog(ours(1)));

    CHECK(f.slurmctld.wait_finished(1) ==
          std::vector<Release>{{Hook::prolog, 1, 0}});
}

TEST_CASE("what is unfinished is told again after each connect")
{
    Fixture f;
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
    Fixture f;
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
    Fixture f;
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
    Fixture f;
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
    Fixture f;
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
    Fixture f;
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
    Fixture f;
    f.settings.look = 5ms;
    auto listener = f.listen();
    f.run();
    FakeAgent old(listener);
    CHECK(old.next().type == Type::hello);

    std::filesystem::rename(f.dir.socket(), f.dir.socket() + ".old");
    auto successor = f.listen();

    FakeAgent agent(successor);
    CHECK(agent.next().type == Type::hello);
    CHECK(old.next().type == Type::unknown); // disconnected
}

TEST_CASE("rubbish and unknown messages are ignored")
{
    Fixture f;
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
    Fixture f;
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

TEST_CASE("a job that a dirty node kept too long is requeued after its drain")
{
    Fixture f;
    f.settings.look = 5ms;
    f.settings.gate_timeout = 20ms;
    f.slurmctld.drains_work = false;
    f.make();
    f.link->epilog(ours(1));
    CHECK(f.link->prolog(ordinary(2, "n1")));
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
    Fixture f;
    f.settings.look = 5ms;
    f.settings.gate_timeout = 20ms;
    f.slurmctld.requeues_work = false;
    f.make();
    f.link->epilog(ours(1));
    CHECK(f.link->prolog(ordinary(2, "n1")));
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
    TempDir dir;
    LinkSettings settings{.socket_path = dir.socket(),
                          .cluster = "test",
                          .host = "here",
                          .look = 5ms,
                          .gate_timeout = 20ms};
    AgentLink link(slow, settings);
    link.epilog(ours(1));
    link.prolog(ordinary(2, "n1"));
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
    Fixture f;
    f.settings.look = 1ms;
    f.settings.gate_timeout = 1ms;
    f.settings.gate_file = f.dir.gate();
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
    CHECK_FALSE(std::filesystem::exists(f.dir.gate()));

    f.slurmctld.set_control(Control::ours);
    CHECK(f.slurmctld.wait_finished(1)[0] == Release{Hook::prolog, 1, 0});
    agent.emplace(listener);
    CHECK(agent->next().type == Type::hello);
    CHECK(agent->next().type == Type::ended);
}

TEST_CASE("a slurmctld that gives control back drops what it asked for")
{
    Fixture f;
    f.settings.look = 1ms;
    f.settings.gate_file = f.dir.gate();
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
    REQUIRE(GateFile(f.dir.gate()).save({{"n7"}, {"n7"}}));
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
    CHECK(GateFile(f.dir.gate()).load() == GateMemory{{"n7"}, {"n7"}});
}

TEST_CASE("a takeover after a standby that nobody saw begins anew")
{
    Fixture f;
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
    Fixture f;
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
    Fixture f;
    f.settings.look = 5ms;
    f.settings.gate_file = f.dir.gate();
    const std::string newer = R"({"version":9})";
    std::ofstream(f.dir.gate()) << newer;
    f.make();
    CHECK(f.link->prolog(ordinary(1, "n1")));
    CHECK(f.link->prolog(ordinary(2, "n2")));
    auto listener = f.listen();
    f.run();
    f.slurmctld.set_control(Control::ours); // some turns
    std::ifstream file(f.dir.gate());
    CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == newer);

    FakeAgent agent(listener);
    agent.next();
    send_node_lists(agent, "n1", "");

    CHECK(f.slurmctld.wait_finished(2).size() == 2);
    CHECK(f.slurmctld.wait_drains(0).empty());
}

TEST_CASE("a slurmctld that starts anew holds back the bridge nodes of before")
{
    Fixture f;
    f.settings.look = 5ms;
    f.settings.gate_file = f.dir.gate();
    auto listener = f.listen();
    f.run();
    {
        FakeAgent agent(listener);
        agent.next();
        send_node_lists(agent, "n1", "n1");
        GateMemory wanted{{"n1"}, {"n1"}};
        for (auto end = std::chrono::steady_clock::now() + patience;
             GateFile(f.dir.gate()).load() != wanted;)
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
    Fixture f;
    f.settings.look = 5ms;
    f.settings.gate_timeout = 20ms;
    f.settings.gate_file = f.dir.gate();
    REQUIRE(GateFile(f.dir.gate()).save({{"n1"}, {}}));
    f.make();
    CHECK(f.link->prolog(ordinary(1, "n1")));
    f.run();

    CHECK(f.slurmctld.wait_finished(1) ==
          std::vector<Release>{{Hook::prolog, 1, 0}});
    CHECK(f.slurmctld.wait_drains(0).empty());
}

TEST_CASE("a standby takes over with what the other slurmctld wrote last")
{
    Fixture f;
    f.settings.look = 5ms;
    f.settings.gate_file = f.dir.gate();
    f.make();
    f.run();
    REQUIRE(GateFile(f.dir.gate()).save({{"n1"}, {}}));

    CHECK(f.slurmctld.wait_recalls(1) == 1);

    CHECK(f.link->prolog(ordinary(1, "n1")));
    CHECK(GateFile(f.dir.gate()).load() == GateMemory{{"n1"}, {}});
}
