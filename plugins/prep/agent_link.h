// SPDX-License-Identifier: GPL-2.0-or-later
// The connection of the hooks to the agent: one thread that tells the agent
// about held hooks, and that calls slurmctld back when the agent has acted.
//
//   slurmctld's threads, its locks held      the link's thread, no lock held
//   prolog(), epilog(): HeldHooks, wakeup ──▶ sends allocated, ended
//                                             receives start, fail, clean …
//                              slurmctld ◀──  finish(), kick(), drain()
//                      StateSaveLocation ◀──  what the gate must remember
//
// A hook never waits for the agent, whatever state the agent is in.
#pragma once

#include "common/base/log.h"
#include "common/contract/hook_message.h"
#include "plugins/prep/agent_socket.h"
#include "plugins/prep/drain_retries.h"
#include "plugins/prep/gate_file.h"
#include "plugins/prep/held_hooks.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

// What the link needs from the process around it. An interface, so that tests
// need no slurmctld. Called by the link's thread; the hooks call nodes_of(),
// too.
class Slurmctld {
  public:
    virtual ~Slurmctld() = default;

    virtual std::vector<std::string> nodes_of(const std::string &hostlist) = 0;
    // Takes slurmctld's job write lock, so it must not be called in a hook.
    virtual void finish(const Release &release) = 0;
    virtual void kick() = 0; // runs the scheduler
    // Drains a node, so that it gets no more jobs. Sets this reason unless the
    // node is drained already. Blocks for one or two RPCs to slurmctld itself.
    // Code::busy if that fails.
    virtual Result<> drain(const std::string &node,
                           const std::string &reason) = 0;
    virtual void log(LogLevel level, const std::string &line) = 0;
};

struct LinkSettings {
    using Milliseconds = std::chrono::milliseconds;

    std::string socket_path;
    std::string cluster;
    std::string host;
    std::size_t queue_limit = 10'000; // number of hints
    Milliseconds ping{ping_interval};
    Milliseconds silence{silence_limit};
    Milliseconds first_retry{100};
    Milliseconds last_retry{2000};
    Milliseconds look{1000}; // interval for checking the socket's inode and
                             // what is overdue
    Milliseconds gate_timeout{std::chrono::minutes{10}};
    std::string gate_file{}; // empty: nothing is remembered
};

class AgentLink {
  public:
    AgentLink(Slurmctld &slurmctld, LinkSettings settings);
    ~AgentLink();
    AgentLink(const AgentLink &) = delete;
    AgentLink &operator=(const AgentLink &) = delete;

    // May be called by any thread, also under slurmctld's locks. True: the hook
    // is held until finish().
    bool prolog(const JobFacts &facts);
    bool epilog(const JobFacts &facts);

    // run() is the link's thread. It returns after stop(), which only tests
    // call.
    void run();
    void stop();

  private:
    using Clock = std::chrono::steady_clock;

    void wake();
    void step();
    void wait();
    Clock::time_point deadline() const;

    void connect();
    void disconnect(const std::string &reason);

    Result<> talk();
    Result<> receive_all();
    void hear(const std::string &packet);
    Result<> send_all();
    std::optional<HookMessage> next_message();

    void process_gate();
    void recall();
    void save_memory();
    void end_overdue();
    bool drain_overdue(const std::string &node);

    Slurmctld &slurmctld_;
    const LinkSettings settings_;
    HeldHooks hooks_;
    const int wakeup_; // eventfd
    std::atomic<bool> stopping_ = false;

    // Only used by the link's thread.
    AgentSocket agent_;
    std::string unsent_;  // a packet for which the socket had no room
    std::string trouble_; // last failure that was logged
    bool heard_ = false;  // something was received since the connect
    bool ping_owed_ = false;
    bool pong_owed_ = false;
    bool kick_owed_ = false;
    Clock::duration retry_;
    Clock::time_point next_try_;
    Clock::time_point next_ping_;
    Clock::time_point next_look_;
    Clock::time_point last_heard_;
    GateFile file_;
    std::string file_trouble_; // last failure that was logged
    Clock::time_point next_tending_;
    DrainRetries drain_retries_;
};

} // namespace bridge
