// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/token_expiry.h"

#include "common/kube/token_claims.h"

namespace bridge {

std::optional<std::chrono::sys_seconds> token_expiry(const std::string &token)
{
    return token_claims(token).expires;
}

} // namespace bridge
