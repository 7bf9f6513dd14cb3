// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/notify.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace bridge {

void notify_systemd(std::string_view state)
{
    const char *path = std::getenv("NOTIFY_SOCKET");
    sockaddr_un address{};
    std::size_t length = path ? std::strlen(path) : 0;
    if (length < 2 || length >= sizeof(address.sun_path))
        return;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path, length);
    if (path[0] == '@') // an abstract socket
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    auto size =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
    sendto(fd, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
           reinterpret_cast<const sockaddr *>(&address), size);
    close(fd);
}

} // namespace bridge
