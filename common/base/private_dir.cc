// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/private_dir.h"

#include "common/base/own_directory.h"
#include "common/base/read_file.h"
#include "common/base/system_error.h"
#include "common/base/write_all.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace bridge {

Result<> PrivateDir::make() const
{
    if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST)
        return fail_errno(Code::busy, "make " + path_);
    return {};
}

Result<> PrivateDir::put(const std::string &name, std::string_view text) const
{
    OwnedFd directory = open_own_directory(path_);
    if (!directory)
        return fail_errno(Code::busy, "open " + path_);
    // Others find it when it is whole; a try that failed is none in the way.
    const std::string part = "." + name;
    OwnedFd file(openat(directory.get(), part.c_str(),
                        O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                        0600));
    if (!file)
        return fail_errno(Code::busy, "make a file in " + path_);
    // Network file systems say only at the end that there was no room.
    if (write_all(file.get(), text) && close(file.release()) == 0 &&
        renameat(directory.get(), part.c_str(), directory.get(),
                 name.c_str()) == 0)
        return {};
    int error = errno;
    unlinkat(directory.get(), part.c_str(), 0);
    return fail_errno(Code::busy, "write a file in " + path_, error);
}

Result<std::string> PrivateDir::read(const std::string &name,
                                     std::size_t longest) const
{
    std::string doing = "read " + path_ + "/" + name;
    OwnedFd directory = open_own_directory(path_);
    if (!directory)
        return fail_errno(Code::busy, doing);
    OwnedFd file(openat(directory.get(), name.c_str(),
                        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file)
        return errno == ENOENT ? fail(Code::not_found, doing + ": no such file")
                               : fail_errno(Code::busy, doing);
    struct stat facts{};
    if (fstat(file.get(), &facts) != 0)
        return fail_errno(Code::busy, doing);
    if (!S_ISREG(facts.st_mode) || facts.st_uid != geteuid() ||
        static_cast<std::size_t>(facts.st_size) > longest)
        return fail(Code::rejected,
                    doing + ": not a file of this user, or too long");
    auto text = read_rest(file.get(), longest);
    return text ? text : fail(text.error(), doing);
}

Result<> PrivateDir::remove(const std::string &name) const
{
    OwnedFd directory = open_own_directory(path_);
    if (!directory && errno == ENOENT)
        return {};
    if (!directory ||
        (unlinkat(directory.get(), name.c_str(), 0) != 0 && errno != ENOENT))
        return fail_errno(Code::busy, "remove " + path_ + "/" + name);
    return {};
}

Result<std::vector<std::string>> PrivateDir::list() const
{
    std::vector<std::string> names;
    OwnedFd directory = open_own_directory(path_);
    if (!directory && errno == ENOENT)
        return names;
    std::unique_ptr<DIR, int (*)(DIR *)> entries(
        directory ? fdopendir(directory.get()) : nullptr, closedir);
    if (!entries)
        return fail_errno(Code::busy, "list " + path_);
    directory.release(); // closedir() closes it
    while (const dirent *entry = readdir(entries.get()))
        if (entry->d_name[0] != '.')
            names.emplace_back(entry->d_name);
    return names;
}

} // namespace bridge
