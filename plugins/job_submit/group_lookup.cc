// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/group_lookup.h"

#include "common/base/system_error.h"
#include "common/base/user_database.h"

#include <cstdio>
#include <grp.h>
#include <memory>
#include <optional>
#include <pwd.h>

namespace bridge {

namespace {

using Users = std::vector<std::uint32_t>;

// Asks one of getpwnam_r(3), getpwuid_r(3), getgrnam_r(3) and getgrgid_r(3).
// The result is null if there is no such record. It points into record and
// room.
template <class Record, class Call, class Key>
Result<const Record *> look_up(Call call, Key key, Record &record,
                               std::vector<char> &room)
{
    Record *found = nullptr;
    int error = ask_user_database(room, [&](char *buffer, std::size_t size) {
        return call(key, &record, buffer, size, &found);
    });
    if (!found && !is_no_such_record(error))
        return fail_errno(Code::busy, "asking the user database", error);
    return found;
}

// Adds those of a file like /etc/passwd whose primary group it is.
void add_primary_members(gid_t group, const char *password_file, Users &users)
{
    std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(
        std::fopen(password_file, "re"), std::fclose);
    if (!file)
        return;
    std::vector<char> room;
    passwd record{};
    for (;;) {
        passwd *found = nullptr;
        ask_user_database(room, [&](char *buffer, std::size_t size) {
            return fgetpwent_r(file.get(), &record, buffer, size, &found);
        });
        if (!found)
            return;
        if (found->pw_gid == group)
            users.push_back(found->pw_uid);
    }
}

} // namespace

Result<Users> look_up_members(const std::string &group,
                              const char *password_file)
{
    std::vector<char> group_room, user_room;
    struct group group_record{};
    passwd user_record{};
    auto found = look_up(getgrnam_r, group.c_str(), group_record, group_room);
    if (!found)
        return std::unexpected(found.error());
    Users users;
    if (!*found)
        return users;
    for (char **name = (*found)->gr_mem; *name; name++) {
        auto user = look_up(getpwnam_r, *name, user_record, user_room);
        if (!user)
            return std::unexpected(user.error());
        if (*user && (*user)->pw_uid != 0)
            users.push_back((*user)->pw_uid);
    }
    add_primary_members((*found)->gr_gid, password_file, users);
    return users;
}

Result<std::string> look_up_primary_group(std::uint32_t user)
{
    std::vector<char> user_room, group_room;
    passwd user_record{};
    struct group group_record{};
    auto account = look_up(getpwuid_r, uid_t{user}, user_record, user_room);
    if (!account)
        return std::unexpected(account.error());
    if (!*account)
        return std::string();
    auto group =
        look_up(getgrgid_r, (*account)->pw_gid, group_record, group_room);
    if (!group)
        return std::unexpected(group.error());
    return std::string(*group ? (*group)->gr_name : "");
}

} // namespace bridge
