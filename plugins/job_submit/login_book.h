// SPDX-License-Identifier: GPL-2.0-or-later
// Limits how many logins (common/contract/login_dir.h) may exist at a time. A
// login counts until its file has expired, whether it was used or not. Pure,
// and for one thread at a time.
#pragma once

#include "common/contract/login_dir.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace bridge {

class LoginBook {
  public:
    static constexpr std::size_t most = 16'384; // each has a file
    static constexpr std::size_t most_of_user = 32;

    // Enters a login, unless it cannot be: then returns why.
    std::optional<std::string> enter(const std::string &name,
                                     std::uint32_t user, LoginDir::Time now);

  private:
    struct Login {
        std::uint32_t user = 0;
        LoginDir::Time time;
    };
    void drop_expired(LoginDir::Time now);

    std::map<std::string, Login> logins_; // by the hash
    std::map<std::uint32_t, std::size_t> of_user_;
    LoginDir::Time dropped_at_;
};

} // namespace bridge
