// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out to which user a login secret belongs (common/contract/login_dir.h).
// Safe to use from every thread.
#pragma once

#include "common/base/result.h"
#include "common/contract/login_dir.h"

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace bridge {

// Returns 32 random bytes as hexadecimal digits, or "" when there are no random
// numbers.
std::string make_login_secret();
// Returns the SHA-256 of the secret as hexadecimal digits, or "" when OpenSSL
// does not work.
std::string login_name_of(std::string_view secret);

class LoginCheck {
  public:
    // patience: how long a login may come after its secret, since slurmctld
    // answers users before the file is written.
    explicit LoginCheck(LoginDir logins,
                        std::chrono::milliseconds patience = {})
        : logins_(std::move(logins)), patience_(patience)
    {
    }

    // Returns the user, and uses the secret up. Code::denied when slurmctld has
    // said nothing about this secret or it was used before; Code::busy when
    // that cannot be found out. Waits for a login that is not there yet, as
    // long as goes_on() says so.
    Result<uid_t> user_of(
        const std::string &secret, LoginDir::Time now,
        const std::function<bool()> &goes_on = [] { return true; });

  private:
    bool was_used(const std::string &name, LoginDir::Time now);
    Result<uid_t> find(const std::string &name, LoginDir::Time now,
                       const std::function<bool()> &goes_on) const;

    LoginDir logins_;
    std::chrono::milliseconds patience_;
    std::mutex mutex_;
    // When each name was used. Needed because the file may stay if we have no
    // right to remove it.
    std::map<std::string, LoginDir::Time> used_;
    bool has_warned_ = false;
};

} // namespace bridge
