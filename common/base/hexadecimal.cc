// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/hexadecimal.h"

#include <sys/random.h>
#include <vector>

namespace bridge {

namespace {

constexpr std::string_view all_digits = "0123456789abcdef";

} // namespace

std::string hexadecimal(std::span<const unsigned char> bytes)
{
    std::string text;
    for (unsigned char byte : bytes) {
        text += all_digits[byte >> 4];
        text += all_digits[byte & 15];
    }
    return text;
}

std::string random_hexadecimal(std::size_t bytes)
{
    std::vector<unsigned char> some(bytes);
    if (getrandom(some.data(), some.size(), 0) !=
        static_cast<ssize_t>(some.size()))
        return {};
    return hexadecimal(some);
}

bool is_hexadecimal(std::string_view text, std::size_t digits)
{
    return text.size() == digits &&
           text.find_first_not_of(all_digits) == text.npos;
}

} // namespace bridge
