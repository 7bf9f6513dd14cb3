// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/replace_file.h"

#include "common/base/owned_fd.h"
#include "common/base/system_error.h"
#include "common/base/write_all.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bridge {

namespace {

constexpr uid_t keep_owner = static_cast<uid_t>(-1);
constexpr gid_t keep_group = static_cast<gid_t>(-1);

std::unexpected<Error> fail_write(const std::string &path, int error)
{
    bool denied = error == EACCES || error == EPERM || error == EROFS;
    return fail_errno(denied ? Code::denied : Code::busy, "write " + path,
                      error);
}

// Returns 0 or an error number.
int fill(int fd, std::string_view text, const FileRights &rights)
{
    if (rights.owner || rights.group)
        if (fchown(fd, rights.owner.value_or(keep_owner),
                   rights.group.value_or(keep_group)) != 0)
            return errno;
    if (fchmod(fd, rights.mode) != 0 || !write_all(fd, text) || fsync(fd) != 0)
        return errno;
    return 0;
}

// The name must survive a crash of the machine, too.
void keep_name(const std::string &directory)
{
    OwnedFd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd)
        (void)fsync(fd.get());
}

} // namespace

Result<> replace_file(const std::string &path, std::string_view text,
                      const FileRights &rights)
{
    const std::string next = path + ".new";
    if (unlink(next.c_str()) != 0 && errno != ENOENT) // of a crash
        return fail_write(path, errno);
    OwnedFd file(open(next.c_str(),
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      0600));
    if (!file)
        return fail_write(path, errno);
    int error = fill(file.get(), text, rights);
    if (error == 0 && std::rename(next.c_str(), path.c_str()) != 0)
        error = errno;
    if (error != 0) {
        unlink(next.c_str());
        return fail_write(path, error);
    }
    keep_name(directory_of(path));
    return {};
}

std::string directory_of(const std::string &path)
{
    auto slash = path.rfind('/');
    return slash == path.npos ? "."
                              : path.substr(0, std::max<std::size_t>(slash, 1));
}

} // namespace bridge
