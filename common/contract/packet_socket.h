// SPDX-License-Identifier: GPL-2.0-or-later
// An AF_UNIX SOCK_SEQPACKET socket: whole packets or nothing, and each side
// knows the other's user id from the kernel. Every descriptor is close-on-exec
// and no call raises SIGPIPE. Used by one thread at a time.
#pragma once

#include "common/base/result.h"

#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

namespace bridge {

// The file behind a socket's path. A socket that is bound anew is another one.
struct SocketFile {
    dev_t device = 0;
    ino_t number = 0; // 0: there is none

    bool exists() const { return number != 0; }
    bool operator==(const SocketFile &) const = default;
};

SocketFile socket_file(const std::string &path);

class PacketSocket {
  public:
    PacketSocket() = default;
    explicit PacketSocket(int fd) : fd_(fd) {}
    PacketSocket(PacketSocket &&other) noexcept
        : fd_(std::exchange(other.fd_, -1)), file_(other.file_)
    {
    }
    PacketSocket &operator=(PacketSocket &&other) noexcept;
    ~PacketSocket() { close(); }

    // Makes a listening socket with this mode and puts it at path, in one step,
    // in place of any other socket there: ask first whether that one is alive.
    static Result<PacketSocket> listen(const std::string &path, mode_t mode);

    // Code::not_found when nobody listens; Code::busy when somebody does who
    // has too many callers.
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

    // Of a listener: what is at its path as long as nobody replaces it.
    SocketFile file() const { return file_; }

    int fd() const { return fd_; }
    bool is_open() const { return fd_ >= 0; }
    void close();

  private:
    int fd_ = -1;
    SocketFile file_;
};

} // namespace bridge
