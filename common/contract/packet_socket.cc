// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/packet_socket.h"

#include "common/base/peer_user.h"
#include "common/base/system_error.h"
#include "common/base/unix_address.h"
#include "common/contract/hook_message.h"

#include <cerrno>
#include <cstring>
#include <format>
#include <random>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bridge {

namespace {

constexpr int backlog = 16; // callers waiting to be accepted

Result<PacketSocket> open_socket()
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fail_errno(Code::internal, "socket");
    return PacketSocket(fd);
}

// Returns 0 or the errno of the failure. A full backlog fails with EAGAIN: a
// local connect never blocks here.
int call(const PacketSocket &sock, const sockaddr_un &address)
{
    int rc = ::connect(sock.fd(), reinterpret_cast<const sockaddr *>(&address),
                       sizeof(address));
    return rc == 0 ? 0 : errno;
}

// Returns a random name in the directory of path, shorter than most names. It
// is random because two containers that share the directory may have the same
// pid.
std::string temporary_path(const std::string &path)
{
    return path.substr(0, path.rfind('/') + 1) +
           std::format(".{:08x}", std::random_device()());
}

Result<> bind_socket(int fd, const std::string &path, mode_t mode)
{
    auto address = unix_address(path);
    if (!address)
        return std::unexpected(address.error());
    mode_t before = umask(0777 & ~mode);
    int rc = bind(fd, reinterpret_cast<const sockaddr *>(&*address),
                  sizeof(*address));
    umask(before);
    if (rc < 0) // also when there is such a file: that is another's
        return fail_errno(Code::denied, "bind " + path);
    return {};
}

// Never replaces a file that is not a socket.
Result<> replace_socket(const std::string &from, const std::string &path)
{
    struct stat status{};
    if (lstat(path.c_str(), &status) == 0 && !S_ISSOCK(status.st_mode))
        return fail(Code::denied, path + " is not a socket");
    if (rename(from.c_str(), path.c_str()) < 0)
        return fail_errno(Code::denied, "rename to " + path);
    return {};
}

} // namespace

SocketFile socket_file(const std::string &path)
{
    struct stat status{};
    if (stat(path.c_str(), &status) < 0)
        return {};
    return {status.st_dev, status.st_ino};
}

PacketSocket &PacketSocket::operator=(PacketSocket &&other) noexcept
{
    if (this != &other) {
        close();
        fd_ = std::exchange(other.fd_, -1);
        file_ = other.file_;
    }
    return *this;
}

void PacketSocket::close()
{
    if (fd_ >= 0)
        ::close(fd_);
    fd_ = -1;
}

Result<PacketSocket> PacketSocket::listen(const std::string &path, mode_t mode)
{
    if (auto address = unix_address(path); !address)
        return fail(address.error(), "listen");
    auto sock = open_socket();
    if (!sock)
        return sock;
    std::string temporary = temporary_path(path);
    if (auto bound = bind_socket(sock->fd_, temporary, mode); !bound)
        return std::unexpected(bound.error());
    sock->file_ = socket_file(temporary);
    auto placed = ::listen(sock->fd_, backlog) < 0
                      ? Result<>(fail_errno(Code::internal, "listen " + path))
                      : replace_socket(temporary, path);
    if (!placed) {
        unlink(temporary.c_str());
        return std::unexpected(placed.error());
    }
    return sock;
}

Result<PacketSocket> PacketSocket::connect(const std::string &path)
{
    auto address = unix_address(path);
    if (!address)
        return fail(address.error(), "connect");
    auto sock = open_socket();
    if (!sock)
        return sock;
    if (int error = call(*sock, *address); error != 0) {
        bool nobody = error == ECONNREFUSED || error == ENOENT;
        return fail(nobody ? Code::not_found : Code::busy,
                    "connect " + path + ": " + std::strerror(error));
    }
    return sock;
}

Result<PacketSocket> PacketSocket::accept()
{
    int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return fail_errno(Code::busy, "accept");
    return PacketSocket(fd);
}

Result<> PacketSocket::send(std::string_view packet)
{
    ssize_t n =
        ::send(fd_, packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n == static_cast<ssize_t>(packet.size()))
        return {};
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return fail_errno(Code::busy, "send");
    return fail_errno(errno == EMSGSIZE ? Code::rejected : Code::gone, "send");
}

Result<std::string> PacketSocket::receive()
{
    std::string packet(max_packet, '\0');
    ssize_t n =
        recv(fd_, packet.data(), packet.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return fail_errno(Code::busy, "receive");
    if (n < 0)
        return fail_errno(Code::gone, "receive");
    if (n == 0) // no side ever sends an empty packet
        return fail(Code::gone, "receive: the peer closed");
    if (static_cast<std::size_t>(n) > packet.size())
        return fail(Code::rejected, "receive: packet of " + std::to_string(n) +
                                        " bytes is too long");
    packet.resize(static_cast<std::size_t>(n));
    return packet;
}

Result<uid_t> PacketSocket::peer_uid() const
{
    return peer_user(fd_);
}

} // namespace bridge
