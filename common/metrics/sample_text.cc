// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/metrics/sample_text.h"

#include "common/base/text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <format>
#include <limits>

namespace bridge {

namespace {

constexpr std::size_t most_samples = 1'000'000;
constexpr std::size_t most_labels = 64; // of one sample

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

void skip_blanks(std::string_view &text)
{
    while (!text.empty() && is_blank(text.front()))
        text.remove_prefix(1);
}

// Takes the name at the start of text; "" if there is none.
std::string_view take_name(std::string_view &text, bool colons)
{
    auto fits = [colons](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
               is_digit(c) || (c == ':' && colons);
    };
    auto end = std::ranges::find_if_not(text, fits);
    std::string_view name(text.begin(), end);
    if (name.empty() || is_digit(name.front()))
        return {};
    text.remove_prefix(name.size());
    return name;
}

bool take(std::string_view &text, char c)
{
    skip_blanks(text);
    if (text.empty() || text.front() != c)
        return false;
    text.remove_prefix(1);
    return true;
}

// Takes a value up to its closing quote; the opening one is already gone.
std::optional<std::string> take_quoted(std::string_view &text)
{
    std::string value;
    while (!text.empty()) {
        char c = text.front();
        text.remove_prefix(1);
        if (c == '"')
            return value;
        if (c == '\\') {
            if (text.empty() || !std::string_view("\\\"n").contains(text[0]))
                return std::nullopt;
            c = text.front() == 'n' ? '\n' : text.front();
            text.remove_prefix(1);
        }
        value += c;
    }
    return std::nullopt;
}

// Takes the labels after the opening brace, and the closing one.
bool take_labels(std::string_view &text, Sample &sample)
{
    while (!take(text, '}')) {
        std::string_view name = take_name(text, false);
        if (name.empty() || sample.labels.size() == most_labels ||
            !take(text, '=') || !take(text, '"'))
            return false;
        auto value = take_quoted(text);
        if (!value)
            return false;
        sample.labels.emplace_back(name, std::move(*value));
        if (!take(text, ','))
            return take(text, '}');
    }
    return true;
}

std::optional<double> number(std::string_view text)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (text == "+Inf" || text == "Inf")
        return infinity;
    if (text == "-Inf")
        return -infinity;
    if (text == "NaN")
        return std::numeric_limits<double>::quiet_NaN();
    if (text.starts_with('+'))
        text.remove_prefix(1);
    // from_chars() would also take other names of what is no number.
    if (text.empty() || !(is_digit(text.back()) || text.back() == '.'))
        return std::nullopt;
    double value = 0;
    const char *last = text.data() + text.size();
    auto [end, error] = std::from_chars(text.data(), last, value);
    if (error == std::errc::invalid_argument || end != last)
        return std::nullopt;
    return value; // 0 if it is out of range
}

std::optional<Sample> sample_in(std::string_view line)
{
    Sample sample;
    sample.name = take_name(line, true);
    if (sample.name.empty())
        return std::nullopt;
    bool parted = !line.empty() && is_blank(line.front());
    if (take(line, '{') ? !take_labels(line, sample) : !parted)
        return std::nullopt;
    skip_blanks(line);
    std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
    auto value = number(line.substr(0, blank));
    line.remove_prefix(blank);
    skip_blanks(line);
    if (!value || (!line.empty() && !whole_number<std::int64_t>(line)))
        return std::nullopt;
    sample.value = *value;
    return sample;
}

} // namespace

std::string_view Sample::label(std::string_view label_name) const
{
    for (const auto &[known, text] : labels)
        if (known == label_name)
            return text;
    return {};
}

Result<Samples> Samples::parse(std::string_view text)
{
    Samples found;
    for (std::size_t number = 1; !text.empty(); number++) {
        std::string_view line = next_part(text, '\n');
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        skip_blanks(line);
        if (line.empty() || line.front() == '#')
            continue;
        auto sample = sample_in(line);
        if (!sample)
            return fail(Code::rejected,
                        std::format("line {} is not a metric", number));
        if (found.samples_.size() == most_samples)
            return fail(Code::rejected,
                        "there are more than a million metrics");
        found.samples_.push_back(std::move(*sample));
    }
    std::ranges::stable_sort(found.samples_, {}, &Sample::name);
    return found;
}

std::span<const Sample> Samples::named(std::string_view name) const
{
    auto name_of = [](const Sample &sample) -> std::string_view {
        return sample.name;
    };
    auto range = std::ranges::equal_range(samples_, name, {}, name_of);
    return {range.begin(), range.end()};
}

std::optional<double> Samples::value(std::string_view name) const
{
    auto all = named(name);
    if (all.empty())
        return std::nullopt;
    return all.front().value;
}

double Samples::sum(
    std::string_view name,
    std::initializer_list<std::pair<std::string_view, std::string_view>> labels)
    const
{
    double sum = 0;
    for (const Sample &sample : named(name))
        if (std::ranges::all_of(labels, [&](const auto &wanted) {
                return sample.label(wanted.first) == wanted.second;
            }))
            sum += sample.value;
    return sum;
}

} // namespace bridge
