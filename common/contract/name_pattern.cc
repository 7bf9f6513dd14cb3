// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/name_pattern.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::size_t most_digits = 10;

std::size_t digits_in(std::string_view number)
{
    std::size_t digits = 0;
    for (char c : number)
        digits = std::min(digits * 10 + std::size_t(c - '0'), most_digits);
    return digits;
}

// Expands the pattern after a "%" and removes it from pattern.
std::string expand_next(std::string_view &pattern, const LetterMeaning &meaning)
{
    if (pattern.empty())
        return {};
    std::string_view number = pattern.substr(
        0, std::min(pattern.find_first_not_of("0123456789"), pattern.size()));
    std::string_view all = pattern.substr(0, number.size() + 1);
    pattern.remove_prefix(all.size());
    if (all == "%")
        return "%";
    if (all.size() > number.size())
        if (auto text = meaning(all.back(), digits_in(number)))
            return *text;
    return "%" + std::string(all);
}

} // namespace

std::string expand_pattern(std::string_view pattern,
                           const LetterMeaning &meaning)
{
    std::string text;
    if (pattern.contains('\\')) {
        text = pattern;
        std::erase(text, '\\');
        return text;
    }
    while (!pattern.empty()) {
        std::size_t percent = pattern.find('%');
        text += pattern.substr(0, percent);
        if (percent == pattern.npos)
            break;
        pattern.remove_prefix(percent + 1);
        text += expand_next(pattern, meaning);
    }
    return text;
}

} // namespace bridge
