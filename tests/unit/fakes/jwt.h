// SPDX-License-Identifier: GPL-2.0-or-later
// A token as the API server issues it, without its signature.
#pragma once

#include "common/kube/base64.h"

#include <algorithm>
#include <format>
#include <string>

namespace bridge {

inline std::string jwt(const std::string &claims)
{
    std::string text = base64(claims);
    std::ranges::replace(text, '+', '-');
    std::ranges::replace(text, '/', '_');
    text.erase(text.find_last_not_of('=') + 1);
    return "e30." + text + ".signature";
}

// That of the agent; more is JSON to add, such as a Pod that it is bound to.
inline std::string agent_token(long issued, long expires,
                               const std::string &more = {})
{
    return jwt(std::format("{{\"sub\":\"system:serviceaccount:"
                           "slurm-k8s-bridge:slurmk8sd\","
                           "\"iat\":{},\"exp\":{}{}}}",
                           issued, expires, more));
}

} // namespace bridge
