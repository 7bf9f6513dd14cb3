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
//
// While slurmctld is not in control, hooks are held as ever, and that is all:
// no connection, no callback, no drain, nothing written. When slurmctld has
// lost control, everything that is held is dropped: its jobs are those of
// another slurmctld now, whose own plugin sees to them. The next takeover
// begins with the file that the other one wrote, like the first.
#pragma once

#include "common/base/log.h"
#include "common/contract/hook_message.h"
#include "plugins/prep/agent_socket.h"
#include "plugins/prep/gate_file.h"
#include "plugins/prep/held_hooks.h"
#include "plugins/prep/overdue_jobs.h"
#include "plugins/prep/slurmctld.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

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
    Clock::time_point deadline();

    void connect();
    void disconnect(const std::string &reason);
    void hang_up();

    bool in_control();
    void gain_control(bool new_term);
    void doubt_control();
    void lose_control();

    Result<> talk();
    Result<> receive_all();
    void hear(const std::string &packet);
    Result<> send_all();
    std::optional<HookMessage> next_message();

    void finish_due();
    void process_gate(bool control);
    void recall();
    void recall_changes();
    void save_memory();

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
    // A slurmctld begins on standby, and nothing is held.
    enum class Standing { standby, doubt, control };
    Standing standing_ = Standing::standby;
    OverdueJobs overdue_;
};

} // namespace bridge
