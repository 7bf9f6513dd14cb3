// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/packet_socket.h"

#include "common/hook_message.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace bridge {

namespace {

constexpr int backlog = 16; // callers waiting to be accepted

std::unexpected<Error> fail_errno(Code code, const std::string &doing)
{
    return fail(code, doing + ": " + std::strerror(errno));
}

Result<sockaddr_un> address_of(const std::string &path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof(address.sun_path))
        return fail(Code::rejected,
                    "socket path \"" + path + "\" must have 1 to " +
                        std::to_string(sizeof(address.sun_path) - 1) +
                        " characters");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

Result<PacketSocket> open_socket()
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fail_errno(Code::internal, "socket");
    return PacketSocket(fd);
}

// Returns 0, or the errno of the failure. A full backlog fails with EAGAIN: a
// local connect never blocks here.
int call(const PacketSocket &sock, const sockaddr_un &address)
{
    int rc = ::connect(sock.fd(), reinterpret_cast<const sockaddr *>(&address),
                       sizeof(address));
    return rc == 0 ? 0 : errno;
}

// Also he who has more callers than he accepts at the moment.
bool somebody_listens(const sockaddr_un &address)
{
    auto sock = open_socket();
    int error = sock ? call(*sock, address) : EAGAIN;
    return error == 0 || error == EAGAIN;
}

void remove_socket(const std::string &path)
{
    struct stat status{};
    if (lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode))
        unlink(path.c_str());
}

} // namespace

PacketSocket &PacketSocket::operator=(PacketSocket &&other) noexcept
{
    if (this != &other) {
        close();
        fd_ = std::exchange(other.fd_, -1);
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
    auto address = address_of(path);
    if (!address)
        return fail(address.error(), "listen");
    auto sock = open_socket();
    if (!sock)
        return sock;
    if (somebody_listens(*address))
        return fail(Code::conflict, "somebody already listens on " + path);
    remove_socket(path); // left by an earlier life: nobody answered above
    mode_t before = umask(0777 & ~mode);
    int rc = bind(sock->fd_, reinterpret_cast<const sockaddr *>(&*address),
                  sizeof(*address));
    umask(before);
    if (rc < 0)
        return fail_errno(Code::denied, "bind " + path);
    if (::listen(sock->fd_, backlog) < 0)
        return fail_errno(Code::internal, "listen " + path);
    return sock;
}

Result<PacketSocket> PacketSocket::connect(const std::string &path)
{
    auto address = address_of(path);
    if (!address)
        return fail(address.error(), "connect");
    auto sock = open_socket();
    if (!sock)
        return sock;
    if (int error = call(*sock, *address); error != 0)
        return fail(Code::busy,
                    "connect " + path + ": " + std::strerror(error));
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
    ssize_t n = ::send(fd_, packet.data(), packet.size(),
                       MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n == static_cast<ssize_t>(packet.size()))
        return {};
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return fail_errno(Code::busy, "send");
    return fail_errno(errno == EMSGSIZE ? Code::rejected : Code::gone, "send");
}

Result<std::string> PacketSocket::receive()
{
    std::string packet(max_packet, '\0');
    ssize_t n = recv(fd_, packet.data(), packet.size(),
                     MSG_DONTWAIT | MSG_TRUNC);
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
    ucred credentials{};
    socklen_t size = sizeof(credentials);
    if (getsockopt(fd_, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0)
        return fail_errno(Code::internal, "SO_PEERCRED");
    return credentials.uid;
}

} // namespace bridge
