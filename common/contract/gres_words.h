// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of DeviceGres and DeviceCapacity in k8s.conf and their limits, and
// a parser for their lists.
#pragma once

#include "common/base/ascii.h"
#include "common/base/result.h"
#include "common/base/text.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

// The longest GRES, type or capacity, in characters.
inline constexpr std::size_t max_gres_word = 63;

// Tells whether text is not empty and has only letters, digits and the
// characters in others.
inline bool is_gres_word(std::string_view text, std::string_view others,
                         std::size_t most = max_gres_word)
{
    return !text.empty() && text.size() <= most &&
           std::ranges::all_of(text, [&](char c) {
               return is_letter_or_digit(c) || others.contains(c);
           });
}

// A type of digits only is refused: Slurm would take it for a count.
inline bool is_gres_type(std::string_view text)
{
    return is_gres_word(text, "-_.") && !std::ranges::all_of(text, is_digit);
}

// Returns the text without spaces at both ends.
inline std::string_view trim_spaces(std::string_view text)
{
    while (text.starts_with(' '))
        text.remove_prefix(1);
    while (text.ends_with(' '))
        text.remove_suffix(1);
    return text;
}

// Parses a list separated by commas with parse_one(). Code::rejected if an
// entry cannot be parsed, or if two entries have the same name_of().
template <class One>
Result<std::vector<One>>
parse_gres_list(std::string_view text,
                Result<One> (*parse_one)(std::string_view text),
                std::string (*name_of)(const One &one))
{
    std::vector<One> found;
    for (std::string_view part : all_parts(text, ',')) {
        auto one = parse_one(trim_spaces(part));
        if (!one)
            return std::unexpected(one.error());
        std::string name = name_of(*one);
        if (std::ranges::contains(found, name, name_of))
            return fail(Code::rejected, "names " + name + " twice");
        found.push_back(std::move(*one));
    }
    return found;
}

} // namespace bridge
