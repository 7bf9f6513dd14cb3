// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/unix_address.h"

#include <cstring>
#include <sys/socket.h>

namespace bridge {

Result<sockaddr_un> unix_address(const std::string &path)
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

} // namespace bridge
