// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/display_width.h"

#include "common/base/utf8.h"

#include <algorithm>
#include <cstdint>

namespace bridge {

namespace {

struct Range {
    std::uint32_t first;
    std::uint32_t last;
};

// Of Unicode's classes Mn, Me and Cf the blocks that names and reasons may
// well have; ascending.
constexpr Range without_width[] = {
    {0x0300, 0x036f},   {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x05bf, 0x05bf},
    {0x05c1, 0x05c2},   {0x05c4, 0x05c5}, {0x0610, 0x061a}, {0x064b, 0x065f},
    {0x0670, 0x0670},   {0x06d6, 0x06dc}, {0x06df, 0x06e4}, {0x06e7, 0x06e8},
    {0x06ea, 0x06ed},   {0x0900, 0x0902}, {0x093c, 0x093c}, {0x0941, 0x0948},
    {0x094d, 0x094d},   {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e},
    {0x1ab0, 0x1aff},   {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e},
    {0x2060, 0x206f},   {0x20d0, 0x20ff}, {0x302a, 0x302d}, {0x3099, 0x309a},
    {0xfe00, 0xfe0f},   {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0001, 0xe007f},
    {0xe0100, 0xe01ef},
};

// East Asian Width W and F; ascending.
constexpr Range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},
    {0x23e9, 0x23ec},   {0x23f0, 0x23f0},   {0x23f3, 0x23f3},
    {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},
    {0x267f, 0x267f},   {0x2693, 0x2693},   {0x26a1, 0x26a1},
    {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},
    {0x26ce, 0x26ce},   {0x26d4, 0x26d4},   {0x26ea, 0x26ea},
    {0x26f2, 0x26f3},   {0x26f5, 0x26f5},   {0x26fa, 0x26fa},
    {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},
    {0x2728, 0x2728},   {0x274c, 0x274c},   {0x274e, 0x274e},
    {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27b0, 0x27b0},   {0x27bf, 0x27bf},   {0x2b1b, 0x2b1c},
    {0x2b50, 0x2b50},   {0x2b55, 0x2b55},   {0x2e80, 0x303e},
    {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0xa4cf},
    {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
    {0xffe0, 0xffe6},   {0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff},
    {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e},
    {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f335},
    {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca},
    {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4},
    {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc},
    {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567},
    {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4},
    {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc},
    {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6d7}, {0x1f6dc, 0x1f6df},
    {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7f0},
    {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff},
    {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};

template <std::size_t count>
bool is_in(const Range (&ranges)[count], std::uint32_t code)
{
    auto range = std::ranges::lower_bound(ranges, code, {}, &Range::last);
    return range != std::end(ranges) && range->first <= code;
}

std::size_t width_of(std::uint32_t code)
{
    if (code < 0x300)
        return 1;
    return is_in(without_width, code) ? 0 : is_in(wide, code) ? 2 : 1;
}

constexpr int most_marks = 2; // of one character

// Returns the longest beginning of text in so many columns, and the columns
// that it takes in columns.
std::string beginning(std::string_view &text, std::size_t &columns)
{
    std::string begun;
    std::size_t used = 0;
    int marks = 0;
    while (!text.empty()) {
        Utf8Character c = first_character(text);
        std::size_t width = width_of(c.code);
        if (used + width > columns)
            break;
        used += width;
        marks = width == 0 ? marks + 1 : 0;
        if (marks <= most_marks)
            begun += text.substr(0, c.size);
        text.remove_prefix(c.size);
    }
    columns = used;
    return begun;
}

} // namespace

std::size_t display_width(std::string_view text)
{
    std::size_t columns = 0;
    while (!text.empty()) {
        Utf8Character c = first_character(text);
        columns += width_of(c.code);
        text.remove_prefix(c.size);
    }
    return columns;
}

std::string cut_to_width(std::string_view text, std::size_t columns)
{
    std::string_view rest = text;
    std::size_t used = columns;
    std::string whole = beginning(rest, used);
    if (rest.empty() || columns == 0)
        return whole;
    used = columns - 1;
    return beginning(text, used) + "+";
}

std::string padded_right(std::string_view text, std::size_t columns)
{
    std::string cut = cut_to_width(text, columns);
    cut.append(columns - std::min(columns, display_width(cut)), ' ');
    return cut;
}

std::string padded_left(std::string_view text, std::size_t columns)
{
    std::string cut = cut_to_width(text, columns);
    cut.insert(0, columns - std::min(columns, display_width(cut)), ' ');
    return cut;
}

} // namespace bridge
