// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/own_directory.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bridge {

OwnedFd open_own_directory(const std::string &path)
{
    OwnedFd fd(
        open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat facts{};
    if (!fd || (fstat(fd.get(), &facts) == 0 && facts.st_uid == geteuid() &&
                (facts.st_mode & 077) == 0))
        return fd;
    fd = OwnedFd();
    errno = EPERM;
    return fd;
}

} // namespace bridge
