// SPDX-License-Identifier: GPL-2.0-or-later
// What the token of a ServiceAccount says about itself. Pure functions. The
// signature is not verified: that is for the API server, which gets the token.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

// Times before 1970 or after the year 9999 are missing, as is everything in a
// text that is not a JWT.
struct TokenClaims {
    std::string ns;      // of the ServiceAccount; "" if it is not that of one
    std::string account; // its name
    std::optional<std::chrono::sys_seconds> issued;
    std::optional<std::chrono::sys_seconds> expires; // missing: never
    bool of_pod = false; // bound to a Pod, whose kubelet renews it
    // The Secret to which the token is bound: it ends with it.
    std::string secret;
    std::string secret_uid;
};

TokenClaims token_claims(std::string_view token);

} // namespace bridge
