// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/trial_text.h"

#include "common/base/ascii.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace bridge::slinky {

namespace {

constexpr std::array<std::string_view, 5> needs_database{
    "accountingstoragetype", "accountingstoragetres", "allowqos", "denyqos",
    "qos"};

bool is_word(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

std::size_t after_blanks(std::string_view text, std::size_t at)
{
    return std::min(text.find_first_not_of(" \t", at), text.size());
}

// The end of "= VALUE" or "+= VALUE" that begins here, or nothing else.
std::size_t after_value(std::string_view text, std::size_t at)
{
    std::size_t here = after_blanks(text, at);
    if (here < text.size() && std::string_view("+-*/").contains(text[here]))
        here++;
    if (here >= text.size() || text[here] != '=')
        return at;
    here = after_blanks(text, here + 1);
    if (here < text.size() && text[here] == '"') {
        std::size_t end = text.find('"', here + 1);
        return end == text.npos ? text.size() : end + 1;
    }
    return std::min(text.find_first_of(" \t\r\n\f\v", here), text.size());
}

} // namespace

std::string without_database(std::string_view conf)
{
    std::string made;
    std::size_t here = 0;
    while (here < conf.size()) {
        std::size_t end = here;
        while (end < conf.size() && is_word(conf[end]))
            end++;
        if (end == here) {
            made += conf[here++];
            continue;
        }
        std::size_t after = after_value(conf, end);
        std::string key = lower_case(conf.substr(here, end - here));
        if (after == end || !std::ranges::contains(needs_database, key))
            made += conf.substr(here, after - here);
        here = after;
    }
    return made;
}

} // namespace bridge::slinky
