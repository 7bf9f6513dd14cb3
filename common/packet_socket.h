// SPDX-License-Identifier: GPL-2.0-or-later
// An AF_UNIX SOCK_SEQPACKET socket: whole packets or nothing, and each side
// knows the other's user id from the kernel. Every descriptor is close-on-exec
// and no call raises SIGPIPE. Used by one thread at a time.
#pragma once

#include "common/result.h"

#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

namespace bridge {

class PacketSocket {
  public:
    PacketSocket() = default;
    explicit PacketSocket(int fd) : fd_(fd) {}
    PacketSocket(PacketSocket &&other) noexcept
        : fd_(std::exchange(other.fd_, -1))
    {
    }
    PacketSocket &operator=(PacketSocket &&other) noexcept;
    ~PacketSocket() { close(); }

    // Makes a listening socket at path with this mode, replacing a dead one of
    // an earlier life. Code::conflict when somebody answers there.
    static Result<PacketSocket> listen(const std::string &path, mode_t mode);

    // Code::busy when nobody listens.
    static Result<PacketSocket> connect(const std::string &path);

    // The next caller, non-blocking; Code::busy when there is none.
    Result<PacketSocket> accept();

    // Sends one packet without blocking. Code::busy: the peer's buffer is full.
    // Code::gone: there is no peer any more.
    Result<> send(std::string_view packet);

    // The next packet without blocking. Code::busy: none yet; Code::gone: the
    // peer closed; Code::rejected: longer than max_packet.
    Result<std::string> receive();

    // The user id the kernel vouches for, of the process that connected or
    // listened.
    Result<uid_t> peer_uid() const;

    int fd() const { return fd_; }
    bool is_open() const { return fd_ >= 0; }
    void close();

  private:
    int fd_ = -1;
};

} // namespace bridge
