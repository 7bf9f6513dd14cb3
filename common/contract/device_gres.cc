// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/device_gres.h"

#include "common/base/text.h"
#include "common/contract/gres_words.h"

#include <algorithm>
#include <format>
#include <utility>

namespace bridge {

namespace {

constexpr std::size_t max_name = 253;
constexpr std::size_t shown = 64;

bool is_name(std::string_view text)
{
    std::size_t slash = text.find('/');
    if (slash == text.npos)
        return is_gres_word(text, "-.", max_name);
    return is_gres_word(text.substr(0, slash), "-.", max_name) &&
           is_gres_word(text.substr(slash + 1), "-_.");
}

// Returns the text before the next ':' and removes it and the ':' from text.
std::string_view next_word(std::string_view &text)
{
    return trim_spaces(next_part(text, ':'));
}

// Slurm knows one kind of CPU, and device plugins offer none.
Result<DeviceGres> as_cpus(DeviceGres made)
{
    if (made.is_resource() || !made.type.empty())
        return fail(Code::rejected,
                    std::format("needs a DeviceClass and no type for Slurm's "
                                "own CPUs, as in dra.cpu:{}, not {}:{}{}{}",
                                cpu_gres, made.name, made.gres,
                                made.type.empty() ? "" : ":",
                                made.type.substr(0, shown)));
    return made;
}

Result<DeviceGres> parse_one(std::string_view text)
{
    std::string whole(text.substr(0, shown));
    DeviceGres made;
    made.name = next_word(text);
    made.gres = next_word(text);
    made.type = next_word(text);
    if (!is_name(made.name) || !is_gres_word(made.gres, "-_") || !text.empty())
        return fail(Code::rejected, std::format("has \"{}\", which is not "
                                                "DEVICECLASS:GRES[:TYPE]",
                                                whole));
    if (made.is_cpus())
        return as_cpus(std::move(made));
    if (made.type.empty()) {
        made.type = made.name;
        std::ranges::replace(made.type, '/', '-');
    }
    if (!is_gres_type(made.type))
        return fail(Code::rejected,
                    std::format("needs a type of at most {} letters, digits, "
                                "'-', '_' and '.', not of digits alone, as in "
                                "{}:{}:TYPE",
                                max_gres_word, made.name, made.gres));
    return made;
}

std::string name_of(const DeviceGres &one)
{
    return one.name;
}

} // namespace

Result<std::vector<DeviceGres>> parse_device_gres(std::string_view text)
{
    return parse_gres_list<DeviceGres>(text, parse_one, name_of);
}

std::string text_of(const std::vector<DeviceGres> &list)
{
    std::string text;
    for (const DeviceGres &one : list)
        text += std::format("{}{}:{}{}{}", text.empty() ? "" : ",", one.name,
                            one.gres, one.type.empty() ? "" : ":", one.type);
    return text;
}

} // namespace bridge
