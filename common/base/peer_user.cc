// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/peer_user.h"

#include "common/base/system_error.h"

#include <sys/socket.h>

namespace bridge {

Result<uid_t> peer_user(int fd)
{
    ucred credentials{};
    socklen_t size = sizeof(credentials);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0)
        return fail_errno(Code::internal, "SO_PEERCRED");
    if (credentials.uid == static_cast<uid_t>(-1))
        return fail(Code::internal, "SO_PEERCRED: this is not a UNIX socket");
    return credentials.uid;
}

} // namespace bridge
