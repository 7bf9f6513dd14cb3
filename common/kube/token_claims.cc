// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/token_claims.h"

#include "common/base/json.h"

#include <cstdint>

namespace bridge {

namespace {

constexpr std::int64_t latest = 253402300799; // the end of the year 9999
constexpr std::string_view subject_prefix = "system:serviceaccount:";

// Decodes base64url without padding; returns nothing for any other text.
std::optional<std::string> decode(std::string_view text)
{
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string bytes;
    unsigned bits = 0, have = 0;
    for (char c : text) {
        auto digit = digits.find(c);
        if (digit == digits.npos)
            return std::nullopt;
        bits = (bits << 6 | static_cast<unsigned>(digit)) & 0xffffffU;
        have += 6;
        if (have >= 8) {
            have -= 8;
            bytes += static_cast<char>(bits >> have & 0xffU);
        }
    }
    return bytes;
}

// Returns the second of the three parts of a JWT, or no value.
Json payload(std::string_view token)
{
    auto first = token.find('.');
    if (first == token.npos)
        return {};
    auto second = token.find('.', first + 1);
    if (second == token.npos)
        return {};
    auto text = decode(token.substr(first + 1, second - first - 1));
    return text ? Json::parse(*text).value_or(Json()) : Json();
}

std::optional<std::chrono::sys_seconds> time_in(const Json &claims,
                                                std::string_view name)
{
    auto seconds = claims.integer(name);
    if (!seconds || *seconds < 0 || *seconds > latest)
        return std::nullopt;
    return std::chrono::sys_seconds(std::chrono::seconds(*seconds));
}

void read_subject(std::string_view subject, TokenClaims &claims)
{
    if (!subject.starts_with(subject_prefix))
        return;
    subject.remove_prefix(subject_prefix.size());
    auto colon = subject.find(':');
    if (colon == subject.npos)
        return;
    claims.ns = subject.substr(0, colon);
    claims.account = subject.substr(colon + 1);
}

} // namespace

TokenClaims token_claims(std::string_view token)
{
    TokenClaims claims;
    Json json = payload(token);
    read_subject(json.text("sub"), claims);
    claims.issued = time_in(json, "iat");
    claims.expires = time_in(json, "exp");
    Json kubernetes = json.at("kubernetes.io");
    claims.of_pod = kubernetes.at("pod").present();
    claims.secret = kubernetes.text("secret/name");
    claims.secret_uid = kubernetes.text("secret/uid");
    return claims;
}

} // namespace bridge
