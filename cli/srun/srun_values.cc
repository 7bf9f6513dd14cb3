// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/srun_values.h"

#include "common/base/text.h"

#include <algorithm>
#include <cctype>

namespace bridge {

bool same_word(std::string_view a, std::string_view b)
{
    return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) {
        return std::tolower(x) == std::tolower(y);
    });
}

bool read_distribution(std::string_view value, bool from_environment,
                       StepRequest &request)
{
    std::string_view way = next_part(value, ':');
    if (!value.empty() && !from_environment)
        return false;
    std::string_view size = way;
    way = next_part(size, '=');
    if (from_environment)
        way = next_part(way, ','); // Block,NoPack
    if (same_word(way, "plane")) {
        auto plane = whole_number<std::uint32_t>(size);
        request.order = TaskOrder::plane;
        request.plane = plane.value_or(0);
        return request.plane > 0;
    }
    if (!size.empty())
        return false;
    if (same_word(way, "cyclic"))
        request.order = TaskOrder::cyclic;
    else if (same_word(way, "block") || way == "*")
        request.order = TaskOrder::block;
    else
        return false;
    return true;
}

bool read_nodes(std::string_view value, bool from_environment,
                StepRequest &request)
{
    std::string_view first = next_part(value, '-');
    auto low = whole_number<std::uint32_t>(first);
    auto high = value.empty() ? low : whole_number<std::uint32_t>(value);
    if (!low || !high || *low == 0 || *high < *low)
        return false;
    request.min_nodes = StepNumber{*low, from_environment};
    request.max_nodes = *high;
    return true;
}

bool read_number(std::string_view value, std::uint32_t least,
                 std::uint32_t &number)
{
    auto read = whole_number<std::uint32_t>(value);
    number = read.value_or(0);
    return read && number >= least;
}

bool read_flag(std::string_view value, bool &flag)
{
    flag =
        !(value == "0" || same_word(value, "no") || same_word(value, "false"));
    return true;
}

bool read_open_mode(std::string_view value, bool &append)
{
    append = value == "a" || same_word(value, "append");
    return append || value == "t" || same_word(value, "truncate");
}

bool is_no_binding(std::string_view value)
{
    while (!value.empty()) {
        std::string_view word = next_part(value, ',');
        if (!same_word(word, "none") && !same_word(word, "no") &&
            !same_word(word, "quiet") && !same_word(word, "verbose") &&
            !same_word(word, "q") && !same_word(word, "v"))
            return false;
    }
    return true;
}

} // namespace bridge
