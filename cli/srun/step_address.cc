// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/step_address.h"

#include <algorithm>
#include <netinet/in.h>
#include <sys/socket.h>

namespace bridge {

namespace {

// A worker that listens with IPv6 sees IPv4 callers as ::ffff:1.2.3.4.
StepAddress address_of(const sockaddr_in6 &six)
{
    StepAddress address{};
    if (six.sin6_family == AF_INET6) {
        std::ranges::copy(six.sin6_addr.s6_addr, address.begin());
    } else if (six.sin6_family == AF_INET) {
        const auto &four = reinterpret_cast<const sockaddr_in &>(six);
        auto *bytes =
            reinterpret_cast<const unsigned char *>(&four.sin_addr.s_addr);
        address[10] = address[11] = 0xff;
        std::copy(bytes, bytes + 4, address.begin() + 12);
    }
    return address;
}

} // namespace

StepAddress own_address(int socket)
{
    sockaddr_in6 six{};
    socklen_t size = sizeof six;
    getsockname(socket, reinterpret_cast<sockaddr *>(&six), &size);
    return address_of(six);
}

StepAddress other_address(int socket)
{
    sockaddr_in6 six{};
    socklen_t size = sizeof six;
    getpeername(socket, reinterpret_cast<sockaddr *>(&six), &size);
    return address_of(six);
}

} // namespace bridge
