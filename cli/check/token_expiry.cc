// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/token_expiry.h"

#include "common/base/json.h"

#include <cstdint>
#include <string_view>

namespace bridge {

namespace {

constexpr std::int64_t latest = 253402300799; // the end of the year 9999

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

} // namespace

std::optional<std::chrono::sys_seconds> token_expiry(const std::string &token)
{
    auto first = token.find('.');
    if (first == token.npos)
        return std::nullopt;
    auto second = token.find('.', first + 1);
    if (second == token.npos)
        return std::nullopt;
    auto claims =
        decode(std::string_view(token).substr(first + 1, second - first - 1));
    if (!claims)
        return std::nullopt;
    auto json = Json::parse(*claims);
    auto seconds = json ? json->integer("exp") : std::nullopt;
    if (!seconds || *seconds < 0 || *seconds > latest)
        return std::nullopt;
    return std::chrono::sys_seconds(std::chrono::seconds(*seconds));
}

} // namespace bridge
