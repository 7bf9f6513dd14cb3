// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/autoscale.h"

#include "common/base/ascii.h"
#include "common/base/padded.h"
#include "common/base/text.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace bridge {

namespace {

constexpr std::uint32_t most_digits = 9;
constexpr std::size_t longest_prefix = 62; // a host name has at most 63
constexpr std::int64_t longest_idle_time = 365 * std::int64_t{86400}; // s

bool is_prefix(std::string_view text)
{
    return !text.empty() && text.size() <= longest_prefix &&
           text.front() != '-' && std::ranges::all_of(text, [](char c) {
               return is_lower_or_digit(c) || c == '-';
           });
}

// What the agent says itself, or what would make it another node.
bool is_own_word(const std::string &name)
{
    return name == "nodename" || name == "nodehostname" || name == "nodeaddr" ||
           name == "bcastaddr" || name == "state" || name == "reason";
}

bool is_conf(std::string_view text)
{
    auto good = [](std::string_view word) {
        std::string_view value = word;
        std::string name = lower_case(next_part(value, '='));
        return !name.empty() && !value.empty() &&
               std::ranges::all_of(name, is_letter_or_digit) &&
               !is_own_word(name) && std::ranges::all_of(value, [](char c) {
                   return c > ' ' && c < 127;
               });
    };
    return std::ranges::all_of(all_parts(text, ' '), good);
}

std::uint32_t number(const Json &json, const char *name)
{
    constexpr auto none = std::numeric_limits<std::uint32_t>::max();
    std::int64_t value = json.integer(name).value_or(none);
    return value < 0 || value > none ? none : static_cast<std::uint32_t>(value);
}

bool is_range(const ReplicaRange &range)
{
    return range.least <= range.most && range.most > 0 &&
           range.most <= most_autoscaled;
}

} // namespace

std::optional<ReplicaRange> read_replica_range(std::string_view text)
{
    auto least = whole_number<std::uint32_t>(next_part(text, '-'));
    auto most = whole_number<std::uint32_t>(text);
    if (!least || !most || !is_range({*least, *most}))
        return std::nullopt;
    return ReplicaRange{*least, *most};
}

std::optional<std::chrono::seconds> read_idle_time(std::string_view text)
{
    static constexpr std::pair<char, std::int64_t> units[] = {
        {'s', 1}, {'m', 60}, {'h', 3600}};
    if (text.empty())
        return std::nullopt;
    auto unit = std::ranges::find(units, text.back(),
                                  &std::pair<char, std::int64_t>::first);
    text.remove_suffix(1);
    auto count = whole_number<std::uint32_t>(text);
    if (unit == std::end(units) || !count ||
        *count > longest_idle_time / unit->second)
        return std::nullopt;
    return std::chrono::seconds(*count * unit->second);
}

std::string PotentialWorkers::text() const
{
    return JsonValue::object({{"least", range.least},
                              {"most", range.most},
                              {"idleSeconds", std::int64_t{idle_time.count()}},
                              {"prefix", prefix},
                              {"digits", digits},
                              {"conf", conf}})
        .dump();
}

std::string PotentialWorkers::node(std::uint32_t number) const
{
    return prefix + padded(number, digits);
}

std::optional<std::uint32_t>
PotentialWorkers::number_of(std::string_view name) const
{
    if (!name.starts_with(prefix))
        return std::nullopt;
    auto found = whole_number<std::uint32_t>(name.substr(prefix.size()));
    return found && node(*found) == name ? found : std::nullopt;
}

std::optional<PotentialWorkers> read_potential_workers(std::string_view text)
{
    auto json = Json::parse(text);
    if (!json)
        return std::nullopt;
    PotentialWorkers made;
    made.range = {number(*json, "least"), number(*json, "most")};
    std::uint32_t idle = number(*json, "idleSeconds");
    made.idle_time = std::chrono::seconds(idle);
    made.prefix = json->text("prefix");
    made.digits = number(*json, "digits");
    made.conf = json->text("conf");
    if (!is_range(made.range) || idle > longest_idle_time ||
        made.digits > most_digits || !is_prefix(made.prefix) ||
        !is_conf(made.conf))
        return std::nullopt;
    return made;
}

} // namespace bridge
