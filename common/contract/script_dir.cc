// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/script_dir.h"

#include "common/base/hexadecimal.h"
#include "common/base/own_directory.h"
#include "common/base/private_dir.h"
#include "common/contract/batch_script.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <vector>

namespace bridge {

namespace {

// What must stay free on the file system: a tenth of its inodes and of its
// bytes, of these at most that many.
constexpr unsigned free_share = 10;
constexpr std::uint64_t most_kept_free = 1ull << 30;
constexpr std::size_t name_bytes = 16;
constexpr std::size_t max_file = 8 * 1024 * 1024; // bytes; put() writes less

// path, or where it will be made.
bool has_room(const std::string &path)
{
    struct statvfs facts{};
    if (statvfs(path.c_str(), &facts) != 0 &&
        statvfs(path.substr(0, path.rfind('/')).c_str(), &facts) != 0)
        return true; // the write will report the error
    return leaves_room({std::uint64_t{facts.f_blocks} * facts.f_frsize,
                        std::uint64_t{facts.f_bavail} * facts.f_frsize,
                        facts.f_files, facts.f_favail});
}

} // namespace

bool leaves_room(const FileSystemRoom &room)
{
    return room.free_bytes >=
               std::min(room.bytes / free_share, most_kept_free) &&
           room.free_files >= room.files / free_share;
}

std::string new_script_name()
{
    return random_hexadecimal(name_bytes);
}

Result<> ScriptDir::put(const std::string &name, std::string_view text) const
{
    if (!is_script_name(name))
        return fail(Code::rejected, "this is not the name of a script file");
    if (auto room = check_room(); !room)
        return room;
    PrivateDir directory(path_);
    if (auto made = directory.make(); !made)
        return made;
    return directory.put(name, text);
}

Result<> ScriptDir::check_room() const
{
    if (has_room(path_))
        return {};
    return fail(Code::busy, "the file system of " + path_ + " is almost full");
}

Result<std::string> ScriptDir::read(const std::string &name) const
{
    if (!is_script_name(name))
        return fail(Code::rejected, "this is not the name of a script file");
    return PrivateDir(path_).read(name, max_file);
}

bool ScriptDir::may_exist(const std::string &name) const
{
    OwnedFd directory = open_own_directory(path_);
    struct stat facts{};
    return !directory ||
           fstatat(directory.get(), name.c_str(), &facts,
                   AT_SYMLINK_NOFOLLOW) == 0 ||
           errno != ENOENT;
}

Result<> ScriptDir::remove(const std::string &name) const
{
    if (!is_script_name(name))
        return fail(Code::rejected, "this is not the name of a script file");
    return PrivateDir(path_).remove(name);
}

Result<std::vector<std::string>> ScriptDir::list() const
{
    auto files = PrivateDir(path_).list();
    if (files)
        std::erase_if(*files, [](const std::string &name) {
            return !is_script_name(name);
        });
    return files;
}

} // namespace bridge
