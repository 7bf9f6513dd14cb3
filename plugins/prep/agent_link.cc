// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/agent_link.h"

#include "common/base/backoff.h"
#include "common/base/wait_status.h"

#include <algorithm>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace bridge {

namespace {

using Type = HookMessage::Type;

HookMessage plain(Type type)
{
    HookMessage message;
    message.type = type;
    return message;
}

HookMessage hello(const LinkSettings &settings)
{
    HookMessage message = plain(Type::hello);
    message.version = hook_protocol_version;
    message.cluster = settings.cluster;
    message.host = settings.host;
    return message;
}

} // namespace

AgentLink::AgentLink(Slurmctld &slurmctld, LinkSettings settings)
    : slurmctld_(slurmctld), settings_(std::move(settings)),
      hooks_(
          [&slurmctld](const std::string &hostlist) {
              return slurmctld.nodes_of(hostlist);
          },
          settings_.queue_limit),
      wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      retry_(settings_.first_retry), file_(settings_.gate_file),
      overdue_(slurmctld, settings_.look)
{
    recall(); // slurmctld calls no hooks yet
    if (wakeup_ < 0)
        slurmctld_.log(LogLevel::error, "cannot create an eventfd: slurmk8sd "
                                        "hears of hooks up to a second late");
}

AgentLink::~AgentLink()
{
    if (wakeup_ >= 0)
        close(wakeup_);
}

bool AgentLink::prolog(const JobFacts &facts)
{
    auto outcome = hooks_.prolog(facts);
    if (outcome.news)
        wake();
    return outcome.held;
}

bool AgentLink::epilog(const JobFacts &facts)
{
    auto outcome = hooks_.epilog(facts);
    if (outcome.news)
        wake();
    return outcome.held;
}

void AgentLink::stop()
{
    stopping_ = true;
    wake();
}

void AgentLink::wake()
{
    std::uint64_t one = 1;
    // write() fails only if the counter is full; then the thread is awake
    // anyway.
    [[maybe_unused]] ssize_t n = write(wakeup_, &one, sizeof(one));
}

void AgentLink::run()
{
    while (!stopping_) {
        try {
            step();
        } catch (...) { // out of memory: reconnect a little later
            agent_.packets.close();
            unsent_.clear();
            next_try_ = Clock::now() + settings_.last_retry;
        }
        wait();
    }
}

void AgentLink::step()
{
    bool control = in_control();
    if (control && !agent_.packets.is_open() && Clock::now() >= next_try_)
        connect();
    if (agent_.packets.is_open())
        if (auto talked = talk(); !talked)
            disconnect(talked.error().message);
    if (Clock::now() >= next_tending_)
        process_gate(control);
    hooks_.give_up_protection();
    finish_due();
}

// Each callback waits for slurmctld's locks, so much may happen between two.
void AgentLink::finish_due()
{
    while (in_control()) {
        auto release = hooks_.pop_due();
        if (!release)
            return;
        slurmctld_.finish(*release);
    }
}

bool AgentLink::in_control()
{
    auto [control, new_term] = slurmctld_.control();
    if (control == Control::ours)
        gain_control(new_term);
    else if (control == Control::unknown)
        doubt_control();
    else
        lose_control();
    return control == Control::ours;
}

void AgentLink::gain_control(bool new_term)
{
    Standing before = std::exchange(standing_, Standing::control);
    if (before == Standing::control)
        return;
    next_try_ = Clock::now();
    if (before == Standing::standby)
        return;
    hooks_.end_doubt(new_term);
    if (new_term)
        slurmctld_.log(LogLevel::info, "slurmctld has been on standby: dropped "
                                       "what it had asked for before");
}

void AgentLink::doubt_control()
{
    if (standing_ != Standing::control)
        return;
    standing_ = Standing::doubt;
    hang_up();
    hooks_.begin_doubt();
    slurmctld_.log(LogLevel::debug, "slurmctld may not be in control: held "
                                    "jobs wait");
}

void AgentLink::lose_control()
{
    if (standing_ == Standing::standby)
        return;
    standing_ = Standing::standby;
    hang_up();
    hooks_.drop_all();
    slurmctld_.log(LogLevel::info, "slurmctld of another host is in control: "
                                   "dropped what this one had asked for");
    recall();
}

// The agent beside a slurmctld that is not in control has nothing to say.
void AgentLink::hang_up()
{
    agent_.packets.close();
    unsent_.clear();
    kick_owed_ = false;
    overdue_.set({});
}

void AgentLink::wait()
{
    using std::chrono::milliseconds;
    auto left = std::chrono::ceil<milliseconds>(deadline() - Clock::now());
    int events = unsent_.empty() ? POLLIN : POLLIN | POLLOUT;
    pollfd fds[] = {
        {wakeup_, POLLIN, 0},
        // -1 if closed: poll() ignores it
        {agent_.packets.fd(), static_cast<short>(events), 0},
    };
    poll(fds, 2, static_cast<int>(std::max<long>(0, left.count())));
    std::uint64_t count = 0;
    [[maybe_unused]] ssize_t n = read(wakeup_, &count, sizeof(count));
}

AgentLink::Clock::time_point AgentLink::deadline()
{
    if (standing_ != Standing::control)
        return next_tending_;
    auto next = std::min(next_tending_,
                         hooks_.next_unprotected().value_or(next_tending_));
    if (!agent_.packets.is_open())
        return std::min(next_try_, next);
    return std::min(
        {next_ping_, next_look_, next, last_heard_ + settings_.silence});
}

void AgentLink::connect()
{
    auto connected = AgentSocket::connect(settings_.socket_path);
    if (!connected)
        return disconnect(connected.error().message);
    agent_ = std::move(*connected);
    unsent_ = encode(hello(settings_));
    heard_ = pong_owed_ = false;
    ping_owed_ = true; // so that a live agent answers at once
    last_heard_ = Clock::now();
    next_ping_ = last_heard_ + settings_.ping;
    next_look_ = last_heard_ + settings_.look;
    hooks_.refill();
}

void AgentLink::disconnect(const std::string &reason)
{
    agent_.packets.close();
    unsent_.clear();
    next_try_ = Clock::now() + retry_;
    retry_ = doubled<Clock::duration>(retry_, settings_.last_retry);
    if (reason == trouble_)
        return;
    trouble_ = reason;
    slurmctld_.log(LogLevel::warning,
                   "no connection to slurmk8sd, held jobs wait: " + reason);
}

Result<> AgentLink::talk()
{
    if (auto received = receive_all(); !received)
        return received;
    Clock::time_point now = Clock::now();
    if (now >= last_heard_ + settings_.silence)
        return fail(Code::busy, "slurmk8sd does not answer");
    if (now >= next_look_) {
        if (agent_.replaced(settings_.socket_path))
            return fail(Code::gone,
                        "another slurmk8sd has taken over the socket");
        next_look_ = now + settings_.look;
    }
    if (now >= next_ping_) {
        ping_owed_ = true;
        next_ping_ = now + settings_.ping;
    }
    return send_all();
}

Result<> AgentLink::receive_all()
{
    constexpr int burst = 64; // then carry out what was received
    Result<> done;
    for (int i = 0; i < burst && done; i++) {
        auto packet = agent_.packets.receive();
        if (packet)
            hear(*packet);
        else if (packet.error().code == Code::busy)
            break;
        else if (packet.error().code == Code::rejected)
            slurmctld_.log(LogLevel::warning,
                           "dropped a packet of slurmk8sd: " +
                               packet.error().message);
        else
            done = std::unexpected(packet.error());
    }
    if (std::exchange(kick_owed_, false))
        slurmctld_.kick();
    return done;
}

void AgentLink::hear(const std::string &packet)
{
    last_heard_ = Clock::now();
    if (!std::exchange(heard_, true)) {
        retry_ = settings_.first_retry;
        trouble_.clear();
        slurmctld_.log(LogLevel::info, "connected to slurmk8sd");
    }
    auto message = decode_hook_message(packet);
    if (!message)
        return slurmctld_.log(LogLevel::warning,
                              "ignored a packet of slurmk8sd: " +
                                  message.error().message);
    kick_owed_ |= message->type == Type::kick;
    pong_owed_ |= message->type == Type::ping;
    hooks_.obey(*message);
}

Result<> AgentLink::send_all()
{
    for (;;) {
        if (unsent_.empty()) {
            auto message = next_message();
            if (!message)
                return {};
            unsent_ = encode(*message);
        }
        auto sent = agent_.packets.send(unsent_);
        if (!sent && sent.error().code == Code::busy)
            return {}; // wait() waits until there is room
        if (!sent && sent.error().code != Code::rejected)
            return sent;
        if (!sent) // the packet is too long for any agent
            slurmctld_.log(LogLevel::error, sent.error().message);
        unsent_.clear();
    }
}

std::optional<HookMessage> AgentLink::next_message()
{
    if (std::exchange(pong_owed_, false))
        return plain(Type::pong);
    if (std::exchange(ping_owed_, false))
        return plain(Type::ping);
    if (auto hint = hooks_.next_message())
        return hint;
    std::size_t dropped = hooks_.pop_dropped();
    if (dropped == 0)
        return std::nullopt;
    slurmctld_.log(LogLevel::warning, "the queue was full, " +
                                          std::to_string(dropped) +
                                          " hints were dropped: slurmk8sd "
                                          "lists again");
    return plain(Type::resync);
}

// Runs once per look interval, so that a node that is dirty only for a moment
// costs no write.
void AgentLink::process_gate(bool control)
{
    next_tending_ = Clock::now() + settings_.look;
    if (!settings_.gate_file.empty()) {
        if (standing_ == Standing::standby || hooks_.untouched())
            recall_changes();
        else if (control)
            save_memory();
    }
    if (!control)
        return;
    hooks_.give_up_unknown(settings_.gate_timeout);
    overdue_.set(hooks_.overdue(settings_.gate_timeout));
    for (JobRef job : overdue_.pop_refused())
        hooks_.fail(job, exit_1);
}

// Whoever writes the file is in control while we are on standby.
void AgentLink::recall_changes()
{
    if (file_.changed_by_others())
        recall();
}

void AgentLink::recall()
{
    if (settings_.gate_file.empty())
        return;
    auto memory = file_.load();
    if (memory) {
        hooks_.remember(std::move(*memory));
        slurmctld_.log(LogLevel::debug, "recalled " + settings_.gate_file);
    } else if (memory.error().code != Code::not_found) {
        hooks_.remember_nothing();
        slurmctld_.log(LogLevel::error,
                       memory.error().message +
                           ": every job waits until slurmk8sd has said on "
                           "which nodes Pods run, for GateTimeout at most");
    }
}

void AgentLink::save_memory()
{
    auto memory = hooks_.memory();
    if (!memory)
        return; // it would say that no Pod runs anywhere
    auto saved = file_.save(*memory);
    std::string trouble = saved ? "" : saved.error().message;
    if (!trouble.empty() && trouble != file_trouble_)
        slurmctld_.log(LogLevel::error, trouble);
    file_trouble_ = std::move(trouble);
}

} // namespace bridge
