// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/job_ref.h"

namespace bridge {

namespace {

constexpr std::string_view digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::size_t digit_count = 13; // 64 bits, 5 a digit, rounded up

} // namespace

std::string Sluid::str() const
{
    std::string text(1 + digit_count, 's');
    for (std::size_t i = 0; i < digit_count; i++)
        text[digit_count - i] = digits[(value >> (5 * i)) & 0x1f];
    return text;
}

std::optional<Sluid> Sluid::parse(std::string_view text)
{
    if (text.size() != 1 + digit_count || (text[0] != 's' && text[0] != 'S'))
        return std::nullopt;
    Sluid sluid;
    for (char c : text.substr(1)) {
        if (c >= 'a' && c <= 'z')
            c = static_cast<char>(c - 'a' + 'A');
        std::size_t digit = digits.find(c);
        if (digit == std::string_view::npos || sluid.value >> 59 != 0)
            return std::nullopt;
        sluid.value = sluid.value << 5 | digit;
    }
    return sluid;
}

} // namespace bridge
