// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/hook_server.h"

#include "agent/daemon/socket_probe.h"
#include "common/base/log.h"
#include "common/base/system_error.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sys/eventfd.h>
#include <unistd.h>

namespace bridge {

namespace {

constexpr mode_t socket_mode = 0600; // slurmctld runs as our user, or as root
constexpr int gate_look = 200; // ms between attempts while the gate is shut
constexpr std::size_t max_callers = 8;
// for an agent that may be there
constexpr std::chrono::seconds probe_patience{2};
constexpr std::size_t first_caller = 3; // its index in the polled descriptors

void drain(int event_fd)
{
    std::uint64_t count = 0;
    [[maybe_unused]] ssize_t n = read(event_fd, &count, sizeof(count));
}

// Returns the kind of write for messages that change something in slurmctld.
std::optional<Write> write_of(HookMessage::Type type)
{
    switch (type) {
    case HookMessage::Type::start:
        return Write::send_start;
    case HookMessage::Type::fail:
        return Write::send_fail;
    case HookMessage::Type::clean:
        return Write::send_clean;
    default:
        return std::nullopt;
    }
}

} // namespace

Result<std::unique_ptr<HookServer>>
HookServer::start(const std::string &path, Sink sink, const WriteGate &gate)
{
    if (agent_answers(path, probe_patience))
        return fail(Code::conflict, "another agent already listens on " + path);
    auto listener = PacketSocket::listen(path, socket_mode);
    if (!listener)
        return std::unexpected(listener.error());
    int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd < 0)
        return fail_errno(Code::internal, "eventfd");
    return std::unique_ptr<HookServer>(
        new HookServer(std::move(*listener), wake_fd, std::move(sink), gate));
}

HookServer::HookServer(PacketSocket listener, int wake_fd, Sink sink,
                       const WriteGate &gate)
    : listener_(std::move(listener)), wake_fd_(wake_fd), sink_(std::move(sink)),
      gate_(gate), thread_([this](std::stop_token stop) { run(stop); })
{
}

HookServer::~HookServer()
{
    thread_.request_stop();
    send({}, 0);
    thread_.join();
    ::close(wake_fd_);
}

void HookServer::send(HookMessage message, PluginConnection to)
{
    if (connected_ && to != 0)
        outgoing_.push({std::move(message), to});
    std::uint64_t one = 1;
    [[maybe_unused]] ssize_t n = write(wake_fd_, &one, sizeof(one));
}

void HookServer::run(std::stop_token stop)
{
    while (!stop.stop_requested()) {
        bool full = (!unsent_.empty() && !shut_out_) || pong_owed_;
        short plugin_events = full ? POLLIN | POLLOUT : POLLIN;
        std::vector<pollfd> fds = {
            {listener_.fd(), POLLIN, 0},
            {wake_fd_, POLLIN, 0},
            {plugin_.fd(), plugin_events, 0}, // -1 is ignored
        };
        for (const PacketSocket &caller : callers_)
            fds.push_back({caller.fd(), POLLIN, 0});
        int patience = shut_out_ ? gate_look : -1;
        if (poll(fds.data(), fds.size(), patience) < 0 && errno != EINTR) {
            log_error("the hook socket cannot be served any more",
                      {{"err", std::strerror(errno)}});
            return;
        }
        if (fds[1].revents)
            drain(wake_fd_);
        read_callers(fds);
        if (fds[0].revents)
            accept_caller();
        if (fds[2].revents && fds[2].fd == plugin_.fd())
            read_packets();
        if (plugin_.is_open())
            write_packets();
    }
}

void HookServer::accept_caller()
{
    auto caller = listener_.accept();
    if (!caller)
        return;
    auto uid = caller->peer_uid();
    if (!uid || (*uid != 0 && *uid != geteuid())) {
        log_error("refused a caller on the hook socket: only slurmctld, as "
                  "SlurmUser or root, may connect",
                  {{"uid", uid ? std::to_string(*uid) : uid.error().message}});
        return;
    }
    if (callers_.size() == max_callers)
        callers_.erase(callers_.begin());
    callers_.push_back(std::move(*caller));
}

void HookServer::read_callers(const std::vector<pollfd> &fds)
{
    std::vector<PacketSocket> waiting;
    for (std::size_t i = 0; i < callers_.size(); i++)
        if (!fds[first_caller + i].revents || read_caller(callers_[i]))
            waiting.push_back(std::move(callers_[i]));
    callers_ = std::move(waiting);
}

// Returns true while the caller may send more.
bool HookServer::read_caller(PacketSocket &caller)
{
    auto packet = caller.receive();
    if (!packet)
        return packet.error().code == Code::busy ||
               packet.error().code == Code::rejected;
    auto message = decode_hook_message(*packet);
    if (message && message->type == HookMessage::Type::hello) {
        serve_plugin(std::move(caller), std::move(*message));
        return false;
    }
    if (!message || message->type != HookMessage::Type::ping)
        return true;
    return caller.send(encode({.type = HookMessage::Type::pong})).has_value();
}

void HookServer::serve_plugin(PacketSocket caller, HookMessage hello)
{
    if (plugin_.is_open())
        drop_plugin("a newer plugin has connected");
    plugin_ = std::move(caller);
    connection_++;
    connected_ = true;
    sink_.received(std::move(hello), connection_);
    read_packets(); // packets that came with it
}

void HookServer::read_packets()
{
    for (;;) {
        auto packet = plugin_.receive();
        if (!packet && packet.error().code == Code::rejected) {
            // The plugin would only send it again after a new connection.
            log_warning("dropped a hook message",
                        {{"err", packet.error().message}});
            continue;
        }
        if (!packet) {
            if (packet.error().code != Code::busy)
                drop_plugin(packet.error().message);
            return;
        }
        auto message = decode_hook_message(*packet);
        if (!message)
            log_warning("dropped a hook message",
                        {{"err", message.error().message}});
        else if (message->type == HookMessage::Type::ping)
            pong_owed_ = true;
        else if (message->type != HookMessage::Type::pong)
            sink_.received(std::move(*message), connection_);
    }
}

// Kicks that have queued up all request the same: one is sent after everything
// else. A later kick is never dropped, since its cause came later.
bool HookServer::next_packet()
{
    while (auto next = outgoing_.pop_until(Clock::time_point::min())) {
        const HookMessage &message = next->message;
        if (next->to != connection_ && next->to != any_plugin)
            continue;
        if (message.type == HookMessage::Type::kick) {
            kick_owed_ = true;
            continue;
        }
        unsent_ = encode(message);
        unsent_write_ = write_of(message.type);
        entered_ = false;
        if (!unsent_.empty())
            return true;
    }
    if (!std::exchange(kick_owed_, false))
        return false;
    unsent_ = encode({.type = HookMessage::Type::kick});
    unsent_write_.reset();
    return true;
}

bool HookServer::may_send()
{
    if (unsent_write_ && !entered_)
        entered_ = gate_.enter(*unsent_write_).has_value();
    shut_out_ = unsent_write_ && !entered_;
    return !shut_out_;
}

// Sent before all else, so that the agent does not look dead while the gate is
// shut.
void HookServer::write_pong()
{
    auto sent = plugin_.send(encode({.type = HookMessage::Type::pong}));
    pong_owed_ = !sent && sent.error().code == Code::busy;
    if (!sent && !pong_owed_)
        drop_plugin(sent.error().message);
}

void HookServer::write_packets()
{
    if (pong_owed_)
        write_pong();
    while (plugin_.is_open() && (!unsent_.empty() || next_packet())) {
        if (!may_send())
            return;
        auto sent = plugin_.send(unsent_);
        if (!sent && sent.error().code == Code::rejected) {
            log_error("cannot tell slurmctld's plugin something",
                      {{"err", sent.error().message}});
        } else if (!sent) {
            if (sent.error().code != Code::busy)
                drop_plugin(sent.error().message);
            return;
        }
        unsent_.clear();
        if (unsent_write_)
            gate_.leave(*unsent_write_);
    }
}

void HookServer::drop_plugin(const std::string &reason)
{
    connected_ = false;
    plugin_.close();
    unsent_.clear();
    kick_owed_ = pong_owed_ = shut_out_ = false;
    while (outgoing_.pop_until(Clock::time_point::min())) {
    }
    log_warning("slurmctld's plugin went away", {{"err", reason}});
    sink_.lost();
}

} // namespace bridge
