// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/gres.h"

#include "common/base/text.h"

#include <algorithm>
#include <format>
#include <optional>

namespace bridge {

namespace {

constexpr std::string_view word_mark = "k8sdev:";

// Splits at commas that are outside parentheses.
std::vector<std::string_view> records(std::string_view text)
{
    std::vector<std::string_view> parts;
    std::size_t start = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= text.size(); i++) {
        if (i == text.size() || (text[i] == ',' && depth == 0)) {
            if (i > start)
                parts.push_back(text.substr(start, i - start));
            start = i + 1;
        } else if (text[i] == '(') {
            depth++;
        } else if (text[i] == ')' && depth > 0) {
            depth--;
        }
    }
    return parts;
}

// Parses "gpu:a100:2" or "gpu:2".
std::optional<GresCount> count_of(std::string_view record)
{
    record = record.substr(0, record.find('('));
    std::size_t last = record.rfind(':');
    if (last == record.npos)
        return std::nullopt;
    auto count = whole_number<std::uint32_t>(record.substr(last + 1));
    std::string_view name = record.substr(0, last);
    std::size_t colon = name.find(':');
    if (colon == 0)
        return std::nullopt;
    std::string_view type = colon == name.npos ? "" : name.substr(colon + 1);
    if (!count || name.empty())
        return std::nullopt;
    return GresCount{std::string(name.substr(0, colon)), std::string(type),
                     *count};
}

// Parses "0-2,5". Returns nothing if the text is malformed or shortened.
std::optional<std::set<std::uint32_t>> indexes_of(std::string_view text,
                                                  std::uint32_t count)
{
    std::set<std::uint32_t> found;
    while (!text.empty()) {
        std::string_view part = next_part(text, ',');
        std::size_t dash = part.find('-');
        auto first = whole_number<std::uint32_t>(part.substr(0, dash));
        auto last = dash == part.npos
                        ? first
                        : whole_number<std::uint32_t>(part.substr(dash + 1));
        if (!first || !last || *last < *first ||
            *last >= DeviceIndex::max_slots)
            return std::nullopt;
        for (std::uint32_t i = *first; i <= *last; i++)
            found.insert(i);
    }
    if (found.size() != count)
        return std::nullopt;
    return found;
}

// Returns "0,2" of a record that ends in "(IDX:0,2)".
std::string_view index_list(std::string_view record)
{
    constexpr std::string_view mark = "(IDX:";
    std::size_t start = record.find(mark);
    if (start == record.npos || !record.ends_with(')'))
        return {};
    start += mark.size();
    return record.substr(start, record.size() - start - 1);
}

std::vector<std::string_view> words_in(std::string_view text)
{
    std::vector<std::string_view> words;
    while (!text.empty()) {
        std::size_t blank = text.find(' ');
        if (blank != 0)
            words.push_back(text.substr(0, blank));
        text = blank == text.npos ? "" : text.substr(blank + 1);
    }
    return words;
}

} // namespace

bool all_counted(std::string_view gres)
{
    return std::ranges::all_of(records(gres), [](std::string_view record) {
        return count_of(record).has_value();
    });
}

std::vector<GresCount> gres_counts(std::string_view gres)
{
    std::vector<GresCount> counts;
    for (std::string_view record : records(gres)) {
        auto count = count_of(record);
        if (!count || count->count == 0)
            continue;
        auto same = std::ranges::find_if(counts, [&](const GresCount &one) {
            return one.gres == count->gres && one.type == count->type;
        });
        if (same == counts.end())
            counts.push_back(*count);
        else
            same->count += count->count;
    }
    return counts;
}

GresCounts sums_in(std::string_view gres)
{
    GresCounts sums;
    for (const GresCount &one : gres_counts(gres)) {
        sums[one.gres] += one.count;
        if (!one.type.empty())
            sums[one.gres + ":" + one.type] += one.count;
    }
    return sums;
}

std::string gres_text(const std::vector<GresCount> &counts)
{
    std::string text;
    for (const GresCount &one : counts)
        text += std::format("{}{}{}{}:{}", text.empty() ? "" : ",", one.gres,
                            one.type.empty() ? "" : ":", one.type, one.count);
    return text;
}

GresUsed gres_used(std::string_view text)
{
    GresUsed used;
    for (std::string_view record : records(text)) {
        auto count = count_of(record);
        if (!count || count->count == 0)
            continue;
        auto indexes = indexes_of(index_list(record), count->count);
        if (!indexes)
            used.unknown.insert(count->gres);
        else
            for (std::uint32_t i : *indexes)
                used.indexes.insert({count->gres, i});
    }
    return used;
}

std::string gres_conf(const DeviceIndex &index)
{
    std::string text;
    for (const auto &[gres, slots] : index.slots())
        for (std::size_t i = 0; i < slots.size();) {
            std::size_t end = i;
            while (end < slots.size() && slots[end].type == slots[i].type)
                end++;
            // Without a file Slurm counts, and chooses no index.
            text += std::format("{}count={},name={},type={},file=/dev/null",
                                text.empty() ? "" : "+", end - i, gres,
                                slots[i].type);
            i = end;
        }
    return text;
}

std::string device_word(std::string_view extra)
{
    for (std::string_view word : words_in(extra))
        if (word.starts_with(word_mark))
            return std::string(word);
    return {};
}

std::string with_device_word(std::string_view extra, const std::string &word)
{
    std::string text;
    auto add = [&](std::string_view one) {
        text += text.empty() ? "" : " ";
        text += one;
    };
    for (std::string_view one : words_in(extra))
        if (!one.starts_with(word_mark))
            add(one);
    if (!word.empty())
        add(word);
    return text;
}

} // namespace bridge
