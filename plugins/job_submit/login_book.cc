// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/login_book.h"

namespace bridge {

std::optional<std::string> LoginBook::enter(const std::string &name,
                                            std::uint32_t user,
                                            LoginDir::Time now)
{
    if (!is_login_name(name))
        return "this is not the hash of a login";
    if (now != dropped_at_)
        drop_expired(now);
    if (logins_.contains(name))
        return "this login exists already";
    if (logins_.size() >= most || of_user_[user] >= most_of_user)
        return "too many logins within a minute";
    logins_.emplace(name, Login{user, now});
    of_user_[user]++;
    return std::nullopt;
}

void LoginBook::drop_expired(LoginDir::Time now)
{
    dropped_at_ = now;
    std::erase_if(logins_, [now](const auto &login) {
        return now - login.second.time > LoginDir::life + LoginDir::clock_skew;
    });
    of_user_.clear();
    for (const auto &[name, login] : logins_)
        of_user_[login.user]++;
}

} // namespace bridge
