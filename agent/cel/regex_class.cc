// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/cel/regex_class.h"

#include <algorithm>

namespace bridge {

namespace {

struct NamedClass {
    std::string_view name;
    CharSet set;
};

const std::vector<NamedClass> &named_classes()
{
    static const std::vector<NamedClass> classes = {
        {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
        {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
        {"ascii", {{0, 0x7f}}},
        {"blank", {{'\t', '\t'}, {' ', ' '}}},
        {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
        {"digit", {{'0', '9'}}},
        {"graph", {{'!', '~'}}},
        {"lower", {{'a', 'z'}}},
        {"print", {{' ', '~'}}},
        {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
        {"space", {{'\t', '\r'}, {' ', ' '}}},
        {"upper", {{'A', 'Z'}}},
        {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
        {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
    };
    return classes;
}

// Adds the part of range that lies in within, moved by distance.
void add_moved(CharSet &into, CharRange range, CharRange within,
               std::int32_t distance)
{
    char32_t first = std::max(range.first, within.first);
    char32_t last = std::min(range.second, within.second);
    if (first <= last)
        into.emplace_back(first + static_cast<char32_t>(distance),
                          last + static_cast<char32_t>(distance));
}

bool holds(const CharSet &set, char32_t c)
{
    return std::ranges::any_of(set, [&](const CharRange &range) {
        return range.first <= c && c <= range.second;
    });
}

} // namespace

CharSet normalized(CharSet set)
{
    std::ranges::sort(set);
    CharSet made;
    for (const CharRange &range : set) {
        if (!made.empty() && range.first <= made.back().second + 1)
            made.back().second = std::max(made.back().second, range.second);
        else
            made.push_back(range);
    }
    return made;
}

CharSet negated(const CharSet &set)
{
    CharSet made;
    char32_t next = 0;
    for (const CharRange &range : normalized(set)) {
        if (range.first > next)
            made.emplace_back(next, range.first - 1);
        next = range.second + 1;
    }
    if (next <= last_character)
        made.emplace_back(next, last_character);
    return made;
}

CharSet folded(CharSet set)
{
    constexpr std::int32_t to_lower = 'a' - 'A';
    CharSet made = set;
    for (const CharRange &range : set) {
        add_moved(made, range, {'A', 'Z'}, to_lower);
        add_moved(made, range, {'a', 'z'}, -to_lower);
    }
    // The Kelvin sign and the long s.
    for (auto [letter, other] :
         {std::pair{U'k', U'\u212a'}, {U's', U'\u017f'}}) {
        char32_t upper = letter - static_cast<char32_t>(to_lower);
        if (holds(made, letter))
            made.emplace_back(other, other);
        else if (holds(made, other))
            made.insert(made.end(), {{letter, letter}, {upper, upper}});
    }
    return normalized(std::move(made));
}

std::optional<CharSet> perl_class(char32_t letter)
{
    switch (letter) {
    case 'd':
        return posix_class("digit");
    case 'w':
        return posix_class("word");
    case 's': // without the vertical tab
        return CharSet{{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
    default:
        return std::nullopt;
    }
}

std::optional<CharSet> posix_class(std::string_view name)
{
    for (const NamedClass &one : named_classes())
        if (one.name == name)
            return one.set;
    return std::nullopt;
}

} // namespace bridge
