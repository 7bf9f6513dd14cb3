// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/host_names.h"

#include "common/base/padded.h"
#include "common/base/text.h"

#include <algorithm>
#include <optional>

namespace bridge {

namespace {

constexpr std::size_t max_names = 65536;

// A name with a number at its end: n007 has the number 7 and the prefix "n".
struct Numbered {
    std::string prefix;
    std::uint32_t number = 0;
    std::size_t width = 0;
    bool zeros = false; // leading zeros: the width matters

    bool goes_on_to(const Numbered &next) const
    {
        return prefix == next.prefix && number + 1 == next.number &&
               (width == next.width || (!zeros && !next.zeros));
    }
};

std::optional<Numbered> numbered(std::string_view name)
{
    std::size_t end = name.find_last_not_of("0123456789");
    std::size_t digits = end == name.npos ? 0 : end + 1;
    auto number = whole_number<std::uint32_t>(name.substr(digits));
    if (!number || name.size() - digits > 9)
        return std::nullopt;
    return Numbered{std::string(name.substr(0, digits)), *number,
                    name.size() - digits,
                    name[digits] == '0' && name.size() - digits > 1};
}

// Splits the list at the next comma outside of brackets.
std::string_view next_item(std::string_view &list)
{
    int depth = 0;
    std::size_t end = 0;
    for (; end < list.size(); end++) {
        depth += (list[end] == '[') - (list[end] == ']');
        if (list[end] == ',' && depth <= 0)
            break;
    }
    std::string_view item = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    return item;
}

// Adds one range of a bracket: 3, or 3-7.
bool add_range(std::string_view prefix, std::string_view range,
               std::string_view suffix, std::vector<std::string> &names)
{
    std::string_view first = next_part(range, '-');
    std::string_view last = range.empty() ? first : range;
    auto low = whole_number<std::uint32_t>(first);
    auto high = whole_number<std::uint32_t>(last);
    if (!low || !high || *high < *low || *high - *low >= max_names ||
        first.size() > 9 || last.size() > 9)
        return false;
    for (std::uint32_t number = *low; number <= *high; number++)
        names.push_back(std::string(prefix) + padded(number, first.size()) +
                        std::string(suffix));
    return names.size() <= max_names;
}

} // namespace

Result<std::vector<std::string>> expand_hosts(std::string_view list)
{
    auto bad = [](std::string_view item) {
        return fail(Code::rejected,
                    "Invalid node list `" + std::string(item) + "' specified");
    };
    std::vector<std::string> names;
    while (!list.empty()) {
        std::string_view item = next_item(list);
        std::size_t open = item.find('['), close = item.find(']');
        if (open == item.npos && close == item.npos) {
            if (item.empty())
                return bad(item);
            names.emplace_back(item);
            continue;
        }
        if (open == item.npos || close == item.npos || close < open ||
            item.find('[', open + 1) != item.npos)
            return bad(item);
        std::string_view ranges = item.substr(open + 1, close - open - 1);
        do {
            if (!add_range(item.substr(0, open), next_part(ranges, ','),
                           item.substr(close + 1), names))
                return bad(item);
        } while (!ranges.empty());
    }
    std::vector<std::string> once;
    for (std::string &name : names)
        if (!std::ranges::contains(once, name))
            once.push_back(std::move(name));
    return once;
}

std::string compress_hosts(const std::vector<std::string> &names)
{
    std::string text;
    for (std::size_t i = 0; i < names.size();) {
        text += text.empty() ? "" : ",";
        auto first = numbered(names[i]);
        if (!first) {
            text += names[i++];
            continue;
        }
        std::string ranges;
        bool several = false;
        for (auto low = first; low && low->prefix == first->prefix;) {
            auto high = low;
            auto next = ++i < names.size() ? numbered(names[i]) : std::nullopt;
            for (; next && high->goes_on_to(*next);
                 next = ++i < names.size() ? numbered(names[i]) : std::nullopt)
                high = next;
            several = several || !ranges.empty() || high->number != low->number;
            ranges +=
                (ranges.empty() ? "" : ",") + padded(low->number, low->width);
            if (high->number != low->number)
                ranges += "-" + padded(high->number, high->width);
            low = next;
        }
        text += first->prefix + (several ? "[" + ranges + "]" : ranges);
    }
    return text;
}

std::vector<std::uint32_t> expand_counts(std::string_view text)
{
    std::vector<std::uint32_t> counts;
    while (!text.empty()) {
        std::string_view item = next_part(text, ',');
        std::uint32_t times = 1;
        if (std::size_t open = item.find("(x"); open != item.npos) {
            if (!item.ends_with(')'))
                return {};
            auto repeats = whole_number<std::uint32_t>(
                item.substr(open + 2, item.size() - open - 3));
            if (!repeats || *repeats == 0)
                return {};
            times = *repeats;
            item = item.substr(0, open);
        }
        auto count = whole_number<std::uint32_t>(item);
        if (!count || counts.size() + times > max_names)
            return {};
        counts.insert(counts.end(), times, *count);
    }
    return counts;
}

std::string compress_counts(const std::vector<std::uint32_t> &counts)
{
    std::string text;
    for (std::size_t i = 0; i < counts.size();) {
        std::size_t first = i;
        while (i < counts.size() && counts[i] == counts[first])
            i++;
        text += (first > 0 ? "," : "") + std::to_string(counts[first]);
        if (i - first > 1)
            text += "(x" + std::to_string(i - first) + ")";
    }
    return text;
}

std::string compress_numbers(const std::vector<std::uint32_t> &numbers)
{
    std::string text;
    for (std::size_t i = 0; i < numbers.size(); i++) {
        std::size_t first = i;
        while (i + 1 < numbers.size() && numbers[i + 1] == numbers[i] + 1)
            i++;
        text += (first > 0 ? "," : "") + std::to_string(numbers[first]);
        if (i > first)
            text += "-" + std::to_string(numbers[i]);
    }
    return text;
}

} // namespace bridge
