// SPDX-License-Identifier: GPL-2.0-or-later
// The two ends of a session, of slurmk8s and of slurmk8sd: frames over a UNIX
// socket, or over TCP with TLS. Never waits longer than it is told. Used by one
// thread.
#pragma once

#include "agent/session/tls.h"
#include "common/base/result.h"
#include "common/contract/session_frame.h"

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace bridge {

class PeerStream {
  public:
    using Clock = std::chrono::steady_clock;

    // Take the descriptor, which must not block.
    explicit PeerStream(int fd) : fd_(fd) {}
    PeerStream(int fd, TlsConnection tls) : fd_(fd), tls_(std::move(tls)) {}
    PeerStream(PeerStream &&other) noexcept
        : fd_(std::exchange(other.fd_, -1)), tls_(std::move(other.tls_)),
          reader_(std::move(other.reader_)), unsent_(std::move(other.unsent_))
    {
    }
    PeerStream &operator=(PeerStream &&) = delete;
    ~PeerStream();

    // For TLS alone: ends its handshake. Code::denied where the other side's
    // certificate is not trusted, gone, or busy when it took too long.
    Result<> shake_hands(Clock::time_point until, const std::stop_token &stop);

    // The next frame, without waiting: nothing when it has not come. Code::gone
    // when the other side is, rejected when it does not speak our protocol.
    Result<std::optional<Frame>> receive();

    // The same, and waits. Code::busy when there was none by then, or when stop
    // is requested.
    Result<Frame> wait_frame(Clock::time_point until,
                             const std::stop_token &stop);

    // Sends frames, and waits; Code::busy when the other side took too little
    // of them by then, or when stop is requested.
    Result<> send(FrameType type, std::string_view text,
                  Clock::time_point until, const std::stop_token &stop);

    // Sends frames later: flush() sends as much as goes without waiting.
    void push(FrameType type, std::string_view text);
    Result<> flush();
    bool has_unsent() const { return !unsent_.empty(); }

    // Says that nothing more comes, and waits until the other side has gone, or
    // until then, or for stop: what was sent last could else be lost where
    // input was left unread.
    void finish(Clock::time_point until, const std::stop_token &stop);

    // Whether a frame may be here already, which poll() does not see.
    bool has_pending() const;

    int fd() const { return fd_; }
    bool by_tls() const { return tls_ != nullptr; }

  private:
    Result<std::string> read_some();
    Result<std::size_t> write_some(std::string_view bytes);
    Result<> wait(short events, Clock::time_point until,
                  const std::stop_token &stop) const;

    int fd_;
    TlsConnection tls_; // none: a UNIX socket
    FrameReader reader_;
    std::string unsent_;
};

} // namespace bridge
