// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/worker_request.h"

#include "common/base/text.h"

#include <algorithm>
#include <format>

namespace bridge {

namespace {

// Removes the name and its '=' from a word. Nothing if the word has another.
std::optional<std::string_view> value_of(std::string_view word,
                                         std::string_view name)
{
    if (!word.starts_with(name) || !word.substr(name.size()).starts_with('='))
        return std::nullopt;
    return word.substr(name.size() + 1);
}

// The number in the next word.
std::optional<std::uint64_t> next_number(std::string_view &text,
                                         std::string_view name)
{
    auto value = value_of(next_part(text, ' '), name);
    return value ? whole_number<std::uint64_t>(*value) : std::nullopt;
}

} // namespace

std::string WorkerRequest::text() const
{
    return (drain ? "drain " : "keep ") + std::to_string(number);
}

std::optional<WorkerRequest> read_worker_request(std::string_view text)
{
    std::string_view verb = next_part(text, ' ');
    auto number = whole_number<std::uint64_t>(text);
    if ((verb != "drain" && verb != "keep") || !number || *number == 0)
        return std::nullopt;
    return WorkerRequest{*number, verb == "drain"};
}

std::string DrainAnswer::text() const
{
    return std::format("uid={} request={} slurmctld={} read={}", uid, request,
                       slurmctld, read);
}

bool is_recent(const DrainAnswer &answer, std::chrono::sys_seconds now)
{
    // Unsigned: anybody may have written any number.
    auto present = static_cast<std::uint64_t>(now.time_since_epoch().count());
    std::uint64_t apart =
        std::max(present, answer.read) - std::min(present, answer.read);
    return apart <= static_cast<std::uint64_t>(answer_lifetime.count());
}

std::optional<DrainAnswer> read_drain_answer(std::string_view text)
{
    auto uid = value_of(next_part(text, ' '), "uid");
    auto request = next_number(text, "request");
    auto slurmctld = next_number(text, "slurmctld");
    auto read = next_number(text, "read");
    if (!uid || uid->empty() || !request || !slurmctld || !read ||
        !text.empty())
        return std::nullopt;
    return DrainAnswer{std::string(*uid), *request, *slurmctld, *read};
}

} // namespace bridge
