// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/token_request.h"

#include "common/base/json.h"

#include <algorithm>

namespace bridge {

namespace {

using std::chrono::seconds;

// A token without the time of its issue counts as one of the shortest life.
seconds life_of(const TokenClaims &claims)
{
    if (!claims.issued || *claims.issued >= *claims.expires)
        return token_life_least;
    return *claims.expires - *claims.issued;
}

bool needs_renewal(const TokenClaims &claims)
{
    return claims.expires && !claims.of_pod && !claims.ns.empty() &&
           !claims.account.empty();
}

std::string path_of(const TokenClaims &claims)
{
    return "/api/v1/namespaces/" + url_encode(claims.ns) + "/serviceaccounts/" +
           url_encode(claims.account) + "/token";
}

bool replaces(const TokenClaims &fresh, const TokenClaims &claims)
{
    return fresh.ns == claims.ns && fresh.account == claims.account &&
           fresh.expires && *fresh.expires > *claims.expires;
}

} // namespace

bool token_is_due(const TokenClaims &claims, std::chrono::sys_seconds now)
{
    if (!needs_renewal(claims))
        return false;
    seconds left = *claims.expires - now;
    return left <= token_short || left <= life_of(claims) / 2;
}

bool token_is_late(const TokenClaims &claims, std::chrono::sys_seconds now)
{
    if (!needs_renewal(claims))
        return false;
    seconds left = *claims.expires - now;
    return left <= token_short || left <= life_of(claims) / 4;
}

std::string token_request_body(const TokenClaims &claims)
{
    seconds life =
        std::clamp(life_of(claims), token_life_least, token_life_most);
    auto spec =
        JsonValue::object({{"expirationSeconds", std::int64_t{life.count()}}});
    if (!claims.secret.empty())
        spec.add("boundObjectRef",
                 JsonValue::object({{"apiVersion", "v1"},
                                    {"kind", "Secret"},
                                    {"name", claims.secret},
                                    {"uid", claims.secret_uid}}));
    return JsonValue::object({{"apiVersion", "authentication.k8s.io/v1"},
                              {"kind", "TokenRequest"},
                              {"spec", std::move(spec)}})
        .dump();
}

Result<std::string> request_token(Http &http, const TokenClaims &claims)
{
    auto reply = http.post(path_of(claims), token_request_body(claims));
    if (!reply)
        return std::unexpected(reply.error());
    if (auto said = check_status(*reply); !said)
        return std::unexpected(said.error());
    auto json = Json::parse(reply->body);
    std::string token = json ? json->text("status/token") : "";
    if (!replaces(token_claims(token), claims))
        return fail(Code::internal,
                    "the API server's answer is no token that lives longer");
    return token;
}

} // namespace bridge
