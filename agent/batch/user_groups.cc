// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/user_groups.h"

#include "common/base/system_error.h"
#include "common/base/user_database.h"

#include <algorithm>
#include <grp.h>
#include <pwd.h>
#include <vector>

namespace bridge {

namespace {

constexpr int max_groups = 65536; // NGROUPS_MAX of Linux

Result<BatchUser> user_record(std::uint32_t id)
{
    std::vector<char> room;
    passwd record{};
    passwd *found = nullptr;
    int error = ask_user_database(room, [&](char *buffer, std::size_t size) {
        return getpwuid_r(id, &record, buffer, size, &found);
    });
    if (found)
        return BatchUser{.name = found->pw_name,
                         .group = {},
                         .groups = {},
                         .home = found->pw_dir,
                         .shell = found->pw_shell};
    std::string doing = "looking up user " + std::to_string(id);
    if (!is_no_such_record(error))
        return fail_errno(Code::busy, doing, error);
    // slurmctld knew the user, and sssd gives this answer while it is offline.
    return fail(Code::busy,
                doing + ": the user is not known on slurmctld's host");
}

Result<std::string> group_name(std::uint32_t id)
{
    std::vector<char> room;
    group record{};
    group *found = nullptr;
    int error = ask_user_database(room, [&](char *buffer, std::size_t size) {
        return getgrgid_r(id, &record, buffer, size, &found);
    });
    if (!found && !is_no_such_record(error))
        return fail_errno(Code::busy, "looking up group " + std::to_string(id),
                          error);
    return std::string(found ? found->gr_name : "");
}

} // namespace

Result<BatchUser> look_up_user(std::uint32_t user_id, std::uint32_t group_id)
{
    auto user = user_record(user_id);
    if (!user)
        return std::unexpected(user.error());
    auto group = group_name(group_id);
    if (!group)
        return std::unexpected(group.error());
    std::vector<gid_t> groups(64);
    int count = static_cast<int>(groups.size());
    while (getgrouplist(user->name.c_str(), group_id, groups.data(), &count) <
           0) {
        if (count <= static_cast<int>(groups.size()) || count > max_groups)
            return fail(Code::busy, "looking up the groups of " + user->name);
        groups.resize(static_cast<std::size_t>(count));
    }
    groups.resize(static_cast<std::size_t>(count));
    user->group = std::move(*group);
    for (gid_t id : groups)
        if (id != 0 && id != group_id &&
            !std::ranges::contains(user->groups, id))
            user->groups.push_back(id);
    return user;
}

} // namespace bridge
