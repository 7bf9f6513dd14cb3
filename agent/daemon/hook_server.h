// SPDX-License-Identifier: GPL-2.0-or-later
// The agent's side of the socket to prep/k8s (common/contract/hook_message.h).
// One thread serves one plugin at a time. When a new plugin says hello, for
// example after a reconfigure of slurmctld, it replaces the old one. A caller
// that only sends pings gets answers: that is another agent, which checks
// whether this one is alive. Nothing is queued for a plugin that is not
// connected, because it repeats everything unfinished when it connects. A
// message for one connection is never sent on a later one, whose slurmctld may
// have forgotten jobs.
#pragma once

#include "agent/calls/write_gate.h"
#include "agent/owner/plugin_connection.h"
#include "common/base/mailbox.h"
#include "common/base/result.h"
#include "common/contract/hook_message.h"
#include "common/contract/packet_socket.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <thread>
#include <vector>

namespace bridge {

class HookServer {
  public:
    // Called on the server's thread.
    struct Sink {
        std::function<void(HookMessage, PluginConnection from)> received;
        std::function<void()> lost; // the plugin went away
    };

    // Listens on path; only our own user and root may connect. Code::conflict
    // when another agent is alive there; finding that out may take two seconds.
    // While the gate is shut, messages that release a hook wait.
    static Result<std::unique_ptr<HookServer>>
    start(const std::string &path, Sink sink, const WriteGate &gate);
    ~HookServer();

    // May be called from any thread. The message is dropped if that connection
    // does not exist any more.
    void send(HookMessage message, PluginConnection to);
    bool connected() const { return connected_; }
    // The socket's file, which stays at the path until another agent takes it.
    SocketFile socket() const { return listener_.file(); }

  private:
    HookServer(PacketSocket listener, int wake_fd, Sink sink,
               const WriteGate &gate);

    void run(std::stop_token stop);
    void accept_caller();
    void read_callers(const std::vector<pollfd> &fds);
    bool read_caller(PacketSocket &caller);
    void serve_plugin(PacketSocket caller, HookMessage hello);
    void read_packets();
    bool next_packet();
    bool may_send();
    void write_pong();
    void write_packets();
    void drop_plugin(const std::string &reason);

    PacketSocket listener_;
    std::vector<PacketSocket> callers_; // no hello yet; oldest first
    PacketSocket plugin_;
    int wake_fd_; // eventfd, written by send()
    Sink sink_;
    const WriteGate &gate_;
    struct Outgoing {
        HookMessage message;
        PluginConnection to;
    };
    Mailbox<Outgoing> outgoing_;
    std::string unsent_;                // a packet that the socket did not take
    std::optional<Write> unsent_write_; // set if that packet is a write
    bool entered_ = false;              // the gate let it through
    bool shut_out_ = false;             // the gate has not let it through yet
    bool kick_owed_ = false;
    bool pong_owed_ = false;
    PluginConnection connection_ = 0; // the newest
    std::atomic<bool> connected_ = false;
    std::jthread thread_; // last: it uses all of the above
};

} // namespace bridge
