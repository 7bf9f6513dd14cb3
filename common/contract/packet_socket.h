// SPDX-License-Identifier: GPL-2.0-or-later
// An AF_UNIX SOCK_SEQPACKET socket. It carries whole packets, and each side
// learns the other's user id from the kernel. Every descriptor is
// close-on-exec, and no call raises SIGPIPE. Used by one thread at a time.
#pragma once

#include "common/base/result.h"

#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

namespace bridge {

// Identifies the file at a socket's path. A socket that is bound again is
// another file.
struct SocketFile {
    dev_t device = 0;
    ino_t number = 0; // 0: there is no file

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

    // Creates a listening socket with this mode and moves it to path
    // atomically. It replaces any other socket there: ask first whether
    // somebody listens on that one. Code::rejected for an invalid path,
    // Code::denied if the path cannot be used or is not a socket,
    // Code::internal otherwise.
    static Result<PacketSocket> listen(const std::string &path, mode_t mode);

    // Code::rejected for an invalid path; Code::not_found if nobody listens;
    // Code::busy for any other failure, such as a full backlog.
    static Result<PacketSocket> connect(const std::string &path);

    // Accepts the next caller without blocking. Code::busy if there is none.
    Result<PacketSocket> accept();

    // Sends one packet without blocking. Code::busy: the peer's buffer is full.
    // Code::gone: the peer has closed the connection. Code::rejected: the
    // packet is too long.
    Result<> send(std::string_view packet);

    // Receives the next packet without blocking. Code::busy: there is none yet.
    // Code::gone: the peer has closed the connection. Code::rejected: the
    // packet was longer than max_packet and is lost; the next one can be read.
    Result<std::string> receive();

    // Returns the user id of the process that connected or listened, as the
    // kernel reports it.
    Result<uid_t> peer_uid() const;

    // For a listener: the file at its path, until somebody replaces it.
    SocketFile file() const { return file_; }

    int fd() const { return fd_; }
    bool is_open() const { return fd_ >= 0; }
    void close();

  private:
    int fd_ = -1;
    SocketFile file_;
};

} // namespace bridge
