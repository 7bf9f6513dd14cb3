// SPDX-License-Identifier: GPL-2.0-or-later
// The connection between slurmk8s and slurmk8sd in a session: frames over a
// UNIX socket, or over TCP with TLS. Both sides use this class. It never waits
// longer than it is told to. Used by one thread.
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

    // Takes ownership of the descriptor, which must be non-blocking.
    explicit PeerStream(int fd) : fd_(fd) {}
    PeerStream(int fd, TlsConnection tls) : fd_(fd), tls_(std::move(tls)) {}
    PeerStream(PeerStream &&other) noexcept
        : fd_(std::exchange(other.fd_, -1)), tls_(std::move(other.tls_)),
          reader_(std::move(other.reader_)), unsent_(std::move(other.unsent_))
    {
    }
    PeerStream &operator=(PeerStream &&) = delete;
    ~PeerStream();

    // Completes the handshake; does nothing without TLS. Code::denied when the
    // other side's certificate is not trusted, Code::gone when the connection
    // is lost, Code::busy when it took too long.
    Result<> shake_hands(Clock::time_point until, const std::stop_token &stop);

    // Returns the next frame without waiting, or nothing if none has arrived.
    // Code::gone when the other side has closed, Code::rejected when it does
    // not speak our protocol.
    Result<std::optional<Frame>> receive();

    // Like receive(), but waits. Code::busy when no frame came in time or stop
    // was requested.
    Result<Frame> wait_frame(Clock::time_point until,
                             const std::stop_token &stop);

    // Sends frames and waits until they are written. Code::busy when the other
    // side did not take them in time or stop was requested.
    Result<> send(FrameType type, std::string_view text,
                  Clock::time_point until, const std::stop_token &stop);

    // push() queues frames to be sent later; flush() sends as much as is
    // possible without waiting.
    void push(FrameType type, std::string_view text);
    Result<> flush();
    bool has_unsent() const { return !unsent_.empty(); }

    // Tells the other side that nothing more comes, and waits until it has
    // closed, time is up, or stop is requested. Closing at once could lose the
    // last frames if input was left unread.
    void finish(Clock::time_point until, const std::stop_token &stop);

    // Returns whether a frame may be here already, which poll() cannot see.
    bool has_pending() const;

    int fd() const { return fd_; }
    bool by_tls() const { return tls_ != nullptr; }

  private:
    Result<std::string> read_some();
    Result<std::size_t> write_some(std::string_view bytes);
    Result<> wait(short events, Clock::time_point until,
                  const std::stop_token &stop) const;

    int fd_;
    TlsConnection tls_; // null: a UNIX socket
    FrameReader reader_;
    std::string unsent_;
};

} // namespace bridge
