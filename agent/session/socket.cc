// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/session/socket.h"

#include "common/base/system_error.h"
#include "common/base/unix_address.h"

#include <array>
#include <cerrno>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bridge {

namespace {

constexpr int backlog = 128;           // callers not accepted yet
constexpr int connect_patience = 5000; // ms, for each address
constexpr mode_t for_everybody = 0666;

OwnedFd open_socket(int family)
{
    return OwnedFd(
        socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

struct AddressFree {
    void operator()(addrinfo *list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, AddressFree>;

Result<Addresses> look_up(const HostPort &host, int flags)
{
    addrinfo wish{};
    wish.ai_socktype = SOCK_STREAM;
    wish.ai_flags = flags | AI_NUMERICSERV;
    addrinfo *found = nullptr;
    std::string port = std::to_string(host.port);
    if (int error = getaddrinfo(host.host.c_str(), port.c_str(), &wish, &found);
        error != 0)
        return fail(Code::busy, host.host + ": " + gai_strerror(error));
    return Addresses(found);
}

// Notices within two minutes that a peer has vanished, and sends each key at
// once.
void set_tcp_options(int fd)
{
    int yes = 1, idle = 60, interval = 15, count = 4; // seconds
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

// Returns false on failure, with errno.
bool connect_to(const OwnedFd &fd, const addrinfo &address)
{
    if (connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0)
        return true;
    if (errno != EINPROGRESS)
        return false;
    pollfd one = {fd.get(), POLLOUT, 0};
    int error = ETIMEDOUT;
    socklen_t size = sizeof(error);
    if (poll(&one, 1, connect_patience) == 1)
        getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    errno = error;
    return error == 0;
}

// Removes the socket of an agent that was killed, but no other kind of file.
Result<> make_way(const std::string &path)
{
    struct stat facts{};
    if (lstat(path.c_str(), &facts) != 0)
        return {};
    if (!S_ISSOCK(facts.st_mode))
        return fail(Code::denied, path + " is not a socket");
    if (unlink(path.c_str()) != 0)
        return fail_errno(Code::denied, "remove " + path);
    return {};
}

} // namespace

Result<OwnedFd> listen_unix(const std::string &path)
{
    auto address = unix_address(path);
    if (!address)
        return std::unexpected(address.error());
    if (auto free = make_way(path); !free)
        return std::unexpected(free.error());
    OwnedFd fd = open_socket(AF_UNIX);
    if (!fd ||
        bind(fd.get(), reinterpret_cast<const sockaddr *>(&*address),
             sizeof(*address)) != 0 ||
        chmod(path.c_str(), for_everybody) != 0 ||
        listen(fd.get(), backlog) != 0)
        return fail_errno(Code::denied, "listen at " + path);
    return fd;
}

Result<OwnedFd> listen_tcp(const HostPort &address)
{
    auto found = look_up(address, AI_NUMERICHOST | AI_PASSIVE);
    if (!found)
        return std::unexpected(found.error());
    const addrinfo &first = **found;
    OwnedFd fd = open_socket(first.ai_family);
    int yes = 1;
    if (!fd ||
        setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) !=
            0 ||
        bind(fd.get(), first.ai_addr, first.ai_addrlen) != 0 ||
        listen(fd.get(), backlog) != 0)
        return fail_errno(Code::denied, "listen at " + address.host + " port " +
                                            std::to_string(address.port));
    return fd;
}

OwnedFd accept_caller(const OwnedFd &listener)
{
    OwnedFd fd(accept4(listener.get(), nullptr, nullptr,
                       SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd)
        set_tcp_options(fd.get()); // has no effect on a UNIX socket
    return fd;
}

std::string address_of_caller(const OwnedFd &caller)
{
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    auto *generic = reinterpret_cast<sockaddr *>(&address);
    std::array<char, NI_MAXHOST> text{};
    if (getpeername(caller.get(), generic, &size) != 0 ||
        getnameinfo(generic, size, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0)
        return {};
    return text.data();
}

Result<OwnedFd> connect_unix(const std::string &path)
{
    auto address = unix_address(path);
    if (!address)
        return std::unexpected(address.error());
    OwnedFd fd = open_socket(AF_UNIX);
    if (!fd || connect(fd.get(), reinterpret_cast<const sockaddr *>(&*address),
                       sizeof(*address)) != 0)
        return fail_errno(Code::busy, "slurmk8sd does not answer at " + path);
    return fd;
}

Result<OwnedFd> connect_tcp(const HostPort &server)
{
    auto found = look_up(server, 0);
    if (!found)
        return std::unexpected(found.error());
    for (const addrinfo *one = found->get(); one; one = one->ai_next) {
        OwnedFd fd = open_socket(one->ai_family);
        if (fd && connect_to(fd, *one)) {
            set_tcp_options(fd.get());
            return fd;
        }
    }
    return fail_errno(Code::busy, "slurmk8sd does not answer at " +
                                      server.host + " port " +
                                      std::to_string(server.port));
}

} // namespace bridge
