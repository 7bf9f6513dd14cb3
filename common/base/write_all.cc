// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/write_all.h"

#include <cerrno>
#include <unistd.h>

namespace bridge {

bool write_all(int fd, std::string_view text)
{
    while (!text.empty()) {
        ssize_t count = write(fd, text.data(), text.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count == 0)
            errno = ENOSPC;
        if (count <= 0)
            return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

} // namespace bridge
