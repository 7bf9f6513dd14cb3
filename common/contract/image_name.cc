// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/image_name.h"

#include "common/base/ascii.h"
#include "common/base/text.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::size_t max_tag = 128;
constexpr std::size_t min_digest = 32;
constexpr std::string_view digits = "0123456789";

bool consists_of(std::string_view text, std::string_view characters)
{
    return !text.empty() && text.find_first_not_of(characters) == text.npos;
}

// Lower-case words, separated by '.', '_', '__' or any number of '-'.
bool is_path_part(std::string_view part)
{
    if (part.empty() || !is_lower_or_digit(part.front()) ||
        !is_lower_or_digit(part.back()))
        return false;
    auto at = part.begin();
    while (at != part.end()) {
        auto from = std::find_if_not(at, part.end(), is_lower_or_digit);
        at = std::find_if(from, part.end(), is_lower_or_digit);
        std::string_view between(from, at);
        if (!between.empty() && between != "." && between != "_" &&
            between != "__" && !consists_of(between, "-"))
            return false;
    }
    return true;
}

bool is_domain(std::string_view domain)
{
    std::string_view host = domain.substr(0, domain.find(':'));
    if (host.size() != domain.size() &&
        !consists_of(domain.substr(host.size() + 1), digits))
        return false;
    if (host.empty() || host.back() == '.')
        return false;
    while (!host.empty()) {
        std::string_view label = next_part(host, '.');
        if (label.empty() || !is_letter_or_digit(label.front()) ||
            !is_letter_or_digit(label.back()) ||
            !std::ranges::all_of(label, [](char c) {
                return is_letter_or_digit(c) || c == '-';
            }))
            return false;
    }
    return true;
}

bool is_tag(std::string_view tag)
{
    auto of_word = [](char c) { return is_letter_or_digit(c) || c == '_'; };
    return !tag.empty() && tag.size() <= max_tag && of_word(tag.front()) &&
           std::ranges::all_of(
               tag, [&](char c) { return of_word(c) || c == '.' || c == '-'; });
}

bool is_digest(std::string_view digest)
{
    std::size_t colon = digest.find(':');
    if (colon == digest.npos || colon == 0)
        return false;
    std::string_view hex = digest.substr(colon + 1);
    return std::ranges::all_of(digest.substr(0, colon), is_lower_or_digit) &&
           hex.size() >= min_digest &&
           consists_of(hex, "0123456789abcdefABCDEF");
}

} // namespace

bool is_image_name(std::string_view name)
{
    if (std::size_t at = name.find('@'); at != name.npos) {
        if (!is_digest(name.substr(at + 1)))
            return false;
        name = name.substr(0, at);
    }
    std::size_t last = name.rfind('/');
    std::size_t colon = name.find(':', last == name.npos ? 0 : last);
    if (colon != name.npos) {
        if (!is_tag(name.substr(colon + 1)))
            return false;
        name = name.substr(0, colon);
    }
    std::size_t slash = name.find('/');
    std::string_view first = name.substr(0, slash);
    bool has_domain =
        slash != name.npos &&
        (first == "localhost" || first.find_first_of(".:") != first.npos);
    if (has_domain) {
        if (!is_domain(first))
            return false;
        name = name.substr(slash + 1);
    }
    if (name.empty() || name.back() == '/')
        return false;
    while (!name.empty())
        if (!is_path_part(next_part(name, '/')))
            return false;
    return true;
}

} // namespace bridge
