// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/device_gres.h"

#include <algorithm>
#include <format>
#include <utility>

namespace bridge {

namespace {

constexpr std::size_t max_word = 63; // of a GRES, as for a type
constexpr std::size_t max_name = 253;
constexpr std::size_t shown = 64;

bool letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9');
}

bool is_word(std::string_view text, std::string_view others,
             std::size_t most = max_word)
{
    return !text.empty() && text.size() <= most &&
           std::ranges::all_of(text, [&](char c) {
               return letter_or_digit(c) || others.contains(c);
           });
}

// Slurm takes a type of digits for a count.
bool is_type(std::string_view text)
{
    return is_word(text, "-_.") &&
           std::ranges::any_of(text,
                               [](char c) { return c < '0' || c > '9'; });
}

bool is_name(std::string_view text)
{
    std::size_t slash = text.find('/');
    if (slash == text.npos)
        return is_word(text, "-.", max_name);
    return is_word(text.substr(0, slash), "-.", max_name) &&
           is_word(text.substr(slash + 1), "-_.");
}

std::string_view trim(std::string_view text)
{
    while (text.starts_with(' '))
        text.remove_prefix(1);
    while (text.ends_with(' '))
        text.remove_suffix(1);
    return text;
}

// Up to the separator; moves text behind it.
std::string_view next_part(std::string_view &text, char separator)
{
    std::size_t end = text.find(separator);
    std::string_view part = trim(text.substr(0, end));
    text = end == text.npos ? std::string_view{} : text.substr(end + 1);
    return part;
}

Result<DeviceGres> parse_one(std::string_view text)
{
    std::string whole(text.substr(0, shown));
    DeviceGres made;
    made.name = next_part(text, ':');
    made.gres = next_part(text, ':');
    made.type = next_part(text, ':');
    if (!is_name(made.name) || !is_word(made.gres, "-_") || !text.empty())
        return fail(Code::rejected,
                    std::format("has \"{}\", which is not "
                                "DEVICECLASS:GRES[:TYPE]",
                                whole));
    if (made.type.empty()) {
        made.type = made.name;
        std::ranges::replace(made.type, '/', '-');
    }
    if (!is_type(made.type))
        return fail(Code::rejected,
                    std::format("needs a type of at most {} letters, digits, "
                                "'-', '_' and '.', not of digits alone, as in "
                                "{}:{}:TYPE",
                                max_word, made.name, made.gres));
    return made;
}

} // namespace

Result<std::vector<DeviceGres>> parse_device_gres(std::string_view text)
{
    std::vector<DeviceGres> found;
    for (;;) {
        std::size_t comma = text.find(',');
        auto one = parse_one(trim(text.substr(0, comma)));
        if (!one)
            return std::unexpected(one.error());
        if (std::ranges::contains(found, one->name, &DeviceGres::name))
            return fail(Code::rejected,
                        std::format("names {} twice", one->name));
        found.push_back(std::move(*one));
        if (comma == text.npos)
            return found;
        text.remove_prefix(comma + 1);
    }
}

std::string text_of(const std::vector<DeviceGres> &list)
{
    std::string text;
    for (const DeviceGres &one : list)
        text += std::format("{}{}:{}:{}", text.empty() ? "" : ",", one.name,
                            one.gres, one.type);
    return text;
}

} // namespace bridge
