// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/script_dir.h"

#include "common/batch_script.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace bridge {

namespace {

// What is kept free of the file system: a tenth, or as many bytes.
constexpr unsigned free_share = 10;
constexpr std::uint64_t most_kept_free = 1ull << 30;
constexpr std::size_t max_file = 8 * 1024 * 1024; // bytes; put() writes less

struct Descriptor {
    int fd;
    explicit Descriptor(int number) : fd(number) {}
    Descriptor(const Descriptor &) = delete;
    ~Descriptor()
    {
        if (fd >= 0)
            close(fd);
    }
    explicit operator bool() const { return fd >= 0; }
};

std::unexpected<Error> fail_system(const std::string &doing, int error)
{
    return fail(error == ENOENT ? Code::not_found : Code::busy,
                doing + ": " + std::strerror(error));
}

std::optional<std::string> random_name()
{
    std::array<std::uint8_t, 16> bytes;
    if (getrandom(bytes.data(), bytes.size(), 0) !=
        static_cast<ssize_t>(bytes.size()))
        return std::nullopt;
    constexpr char digits[] = "0123456789abcdef";
    std::string name;
    for (std::uint8_t byte : bytes) {
        name += digits[byte >> 4];
        name += digits[byte & 15];
    }
    return name;
}

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

// Ours alone: EPERM for any other.
int open_directory(const std::string &path)
{
    int fd =
        open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat facts{};
    if (fd < 0)
        return fd;
    if (fstat(fd, &facts) == 0 && facts.st_uid == geteuid() &&
        (facts.st_mode & 077) == 0)
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

// What slurmctld's own state needs stays free.
bool has_room(int fd)
{
    struct statvfs facts{};
    if (fstatvfs(fd, &facts) != 0)
        return true; // the write says more
    std::uint64_t all = std::uint64_t{facts.f_blocks} * facts.f_frsize;
    std::uint64_t free = std::uint64_t{facts.f_bavail} * facts.f_frsize;
    return free >= std::min(all / free_share, most_kept_free);
}

} // namespace

Result<std::string> ScriptDir::put(std::string_view text) const
{
    if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST)
        return fail_system("make " + path_, errno);
    Descriptor directory(open_directory(path_));
    if (!directory)
        return fail_system("open " + path_, errno);
    if (!has_room(directory.fd))
        return fail(Code::busy, "the file system of " + path_ +
                                    " is almost full");
    auto name = random_name();
    if (!name)
        return fail(Code::busy, "no random numbers");
    Descriptor file(openat(directory.fd, name->c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           0600));
    if (!file)
        return fail_system("make a file in " + path_, errno);
    if (!write_all(file.fd, text)) {
        int error = errno;
        unlinkat(directory.fd, name->c_str(), 0);
        return fail_system("write a file in " + path_, error);
    }
    return *name;
}

Result<std::string> ScriptDir::read(const std::string &name) const
{
    if (!is_script_name(name))
        return fail(Code::rejected, "this is no name of a script's file");
    std::string doing = "read " + path_ + "/" + name;
    Descriptor directory(open_directory(path_));
    if (!directory)
        return fail(Code::busy, doing + ": " + std::strerror(errno));
    Descriptor file(openat(directory.fd, name.c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file)
        return fail_system(doing, errno);
    struct stat facts{};
    if (fstat(file.fd, &facts) != 0)
        return fail_system(doing, errno);
    if (!S_ISREG(facts.st_mode) || facts.st_uid != geteuid() ||
        static_cast<std::size_t>(facts.st_size) > max_file)
        return fail(Code::rejected, doing + ": this is no file of ours");
    std::string text(static_cast<std::size_t>(facts.st_size), '\0');
    std::size_t have = 0;
    while (have < text.size()) {
        ssize_t count =
            ::read(file.fd, text.data() + have, text.size() - have);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return fail_system(doing, errno);
        if (count == 0)
            break;
        have += static_cast<std::size_t>(count);
    }
    text.resize(have);
    return text;
}

bool ScriptDir::may_exist(const std::string &name) const
{
    Descriptor directory(open_directory(path_));
    struct stat facts{};
    return !directory ||
           fstatat(directory.fd, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) ==
               0 ||
           errno != ENOENT;
}

Result<> ScriptDir::remove(const std::string &name) const
{
    if (!is_script_name(name))
        return fail(Code::rejected, "this is no name of a script's file");
    Descriptor directory(open_directory(path_));
    if (!directory && errno == ENOENT)
        return {};
    if (!directory || (unlinkat(directory.fd, name.c_str(), 0) != 0 &&
                       errno != ENOENT))
        return fail_system("remove " + path_ + "/" + name, errno);
    return {};
}

Result<std::vector<std::string>> ScriptDir::list() const
{
    std::vector<std::string> files;
    int fd = open_directory(path_);
    if (fd < 0 && errno == ENOENT)
        return files;
    std::unique_ptr<DIR, int (*)(DIR *)> entries(
        fd < 0 ? nullptr : fdopendir(fd), closedir);
    if (!entries) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return fail_system("list " + path_, error);
    }
    while (const dirent *entry = readdir(entries.get()))
        if (is_script_name(entry->d_name))
            files.emplace_back(entry->d_name);
    return files;
}

} // namespace bridge
