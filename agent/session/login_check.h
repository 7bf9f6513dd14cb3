// SPDX-License-Identifier: GPL-2.0-or-later
// Whose login a secret is, see common/contract/login_dir.h. Safe from every
// thread.
#pragma once

#include "common/base/result.h"
#include "common/contract/login_dir.h"

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace bridge {

// Of 32 random bytes, in hexadecimal; empty without random numbers.
std::string make_login_secret();
// Its SHA-256, in hexadecimal; empty when OpenSSL does not work.
std::string login_name_of(std::string_view secret);

class LoginCheck {
  public:
    explicit LoginCheck(LoginDir logins) : logins_(std::move(logins)) {}

    // Code::denied for a secret of which slurmctld has told nothing, or which
    // was used before; busy where that cannot be known. Uses it up.
    Result<uid_t> user_of(const std::string &secret, LoginDir::Time now);

  private:
    LoginDir logins_;
    std::mutex mutex_;
    // By name, when: also where we may not write there, so that it stays.
    std::map<std::string, LoginDir::Time> used_;
    bool has_complained_ = false;
};

} // namespace bridge
