// SPDX-License-Identifier: GPL-2.0-or-later
// When the agent's token is due to be renewed, and the TokenRequest that renews
// it. The request stores nothing in the API server, and agents that stand by
// need it too, so it passes no write gate.
#pragma once

#include "common/base/result.h"
#include "common/kube/http.h"
#include "common/kube/token_claims.h"

#include <chrono>
#include <string>

namespace bridge {

// The agent's ServiceAccount, as contribs/kubernetes makes it.
inline constexpr char account_namespace[] = "slurm-k8s-bridge";
inline constexpr char account_name[] = "slurmk8sd";

// A token with less than this left is due, whatever its life was.
inline constexpr std::chrono::seconds token_short{600};
// The life that is asked for is that of the present token, within these. The
// policy slurm-k8s-bridge-agent-token refuses more.
inline constexpr std::chrono::seconds token_life_least{3600};
inline constexpr std::chrono::seconds token_life_most{30 * 24 * 3600};

// Tells whether half of the token's life is over. A token that does not expire,
// or that a kubelet renews, is never due.
bool token_is_due(const TokenClaims &claims, std::chrono::sys_seconds now);

// Tells whether at most a quarter of its life is left: whoever else renews it
// should have done so.
bool token_is_late(const TokenClaims &claims, std::chrono::sys_seconds now);

// The body asks for the same life and keeps the Secret to which the token is
// bound.
std::string token_request_body(const TokenClaims &claims);

// Returns the new token. Fails as Http::post() and check_status(); with
// Code::internal if the answer is not a token of the same ServiceAccount that
// lives longer.
Result<std::string> request_token(Http &http, const TokenClaims &claims);

} // namespace bridge
