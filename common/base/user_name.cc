// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/user_name.h"

#include "common/base/user_database.h"

#include <pwd.h>
#include <vector>

namespace bridge {

std::string user_name(std::uint32_t id)
{
    std::vector<char> room;
    passwd record{};
    passwd *found = nullptr;
    ask_user_database(room, [&](char *buffer, std::size_t size) {
        return getpwuid_r(id, &record, buffer, size, &found);
    });
    return found && *found->pw_name ? found->pw_name : std::to_string(id);
}

} // namespace bridge
