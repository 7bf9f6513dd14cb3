// SPDX-License-Identifier: GPL-2.0-or-later
// The agent's side of the socket to prep/k8s (common/contract/hook_message.h).
// One thread serves one plugin at a time: a newer one, as after a reconfigure
// of slurmctld, replaces the older with its hello. Who only pings is answered:
// an agent that wants the socket asks whether this one is alive. Nothing is
// kept for a plugin that is not there: it says again what is unfinished when it
// connects. What was meant for an earlier one never reaches a later one, whose
// slurmctld may have forgotten jobs.
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

    // Listens on path, as a socket that only our own user and root may use.
    // Code::conflict when another agent is alive there; to know that may take
    // two seconds. While the gate is shut, what lets a hook go waits.
    static Result<std::unique_ptr<HookServer>>
    start(const std::string &path, Sink sink, const WriteGate &gate);
    ~HookServer();

    // From any thread; dropped when that plugin is not connected any more.
    void send(HookMessage message, PluginConnection to);
    bool connected() const { return connected_; }
    // What is at the path as long as no other agent has taken it.
    SocketFile socket() const { return listener_.file(); }

  private:
    HookServer(PacketSocket listener, int wake_fd, Sink sink,
               const WriteGate &gate);

    void run(std::stop_token stop);
    void accept_caller();
    void hear_callers(const std::vector<pollfd> &fds);
    bool hear_caller(PacketSocket &caller);
    void serve_plugin(PacketSocket caller, HookMessage hello);
    void read_packets();
    bool next_packet();
    bool may_send();
    void write_pong();
    void write_packets();
    void drop_plugin(const std::string &why);

    PacketSocket listener_;
    std::vector<PacketSocket> callers_; // who have not said hello, oldest first
    PacketSocket plugin_;
    int wake_fd_; // an eventfd that send() writes
    Sink sink_;
    const WriteGate &gate_;
    struct Outgoing {
        HookMessage message;
        PluginConnection to;
    };
    Mailbox<Outgoing> outgoing_;
    std::string unsent_; // the packet that did not fit into the socket
    std::optional<Write> unsent_write_; // if it is one
    bool entered_ = false;              // and was let through the gate
    bool shut_out_ = false;             // or not yet
    bool kick_owed_ = false;
    bool pong_owed_ = false;
    PluginConnection connection_ = 0; // the newest
    std::atomic<bool> connected_ = false;
    std::jthread thread_; // last: it uses all of the above
};

} // namespace bridge
