// SPDX-License-Identifier: GPL-2.0-or-later
// An AgentLink between a fake slurmctld and a fake agent.
#pragma once

#include "plugins/prep/agent_link.h"

#include "common/contract/names.h"

#include "tests/unit/fakes/temporary_directory.h"
#include "tests/unit/plugins/prep/gate_bed.h"

#include <atomic>
#include <condition_variable>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <poll.h>
#include <semaphore>
#include <thread>

namespace bridge {

using namespace std::chrono_literals;

using Type = HookMessage::Type;

inline constexpr auto patience = 60s; // only a failing test ever waits so long

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

inline bool readable(const PacketSocket &socket,
                     std::chrono::milliseconds timeout)
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
struct LinkBed {
    TemporaryDirectory dir;
    FakeSlurmctld slurmctld;
    LinkSettings settings{.socket_path = dir.path + "/hook.sock",
                          .cluster = "test",
                          .host = "here",
                          .first_retry = 5ms,
                          .last_retry = 20ms};
    std::optional<AgentLink> link;
    std::jthread thread;

    std::string gate_file() const { return dir.path + "/gate"; }
    PacketSocket listen()
    {
        auto listener = PacketSocket::listen(settings.socket_path, 0600);
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
    ~LinkBed()
    {
        if (link)
            link->stop();
    }
};

inline void send_node_lists(FakeAgent &agent, const std::string &bridge_nodes,
                            const std::string &dirty)
{
    agent.say(encode({.type = Type::bridge, .nodes = bridge_nodes}));
    agent.say(encode({.type = Type::synced, .dirty = dirty}));
}

inline JobFacts ours(JobId id)
{
    return ours(id, "n" + std::to_string(id));
}

} // namespace bridge
