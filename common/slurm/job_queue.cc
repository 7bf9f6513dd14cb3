// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/job_queue.h"

#include "common/base/text.h"

#include <algorithm>
#include <cctype>

namespace bridge {

namespace {

constexpr std::uint32_t most_tasks = 1'000'000;

// "3", "1-5" or "10-20:2".
std::uint32_t tasks_of(std::string_view part)
{
    std::string_view range = next_part(part, ':');
    auto step = whole_number<std::uint32_t>(part).value_or(1);
    auto first = whole_number<std::uint32_t>(next_part(range, '-'));
    if (!first)
        return 0;
    auto last = whole_number<std::uint32_t>(range).value_or(*first);
    if (last < *first || step == 0)
        return 0;
    return std::min((last - *first) / step, most_tasks) + 1;
}

// Suffixes are powers of 1024.
std::optional<std::uint64_t> amount(std::string_view text)
{
    constexpr std::string_view suffixes = "KMGT";
    std::uint64_t factor = 1;
    if (!text.empty())
        if (auto power = suffixes.find(text.back()); power != text.npos) {
            factor = std::uint64_t{1} << (10 * (power + 1));
            text.remove_suffix(1);
        }
    auto number = whole_number<std::uint64_t>(text);
    if (!number || *number > UINT64_MAX / factor)
        return std::nullopt;
    return *number * factor;
}

void add_gres(std::string_view one, GresCounts &counts)
{
    std::size_t last = one.rfind(':');
    auto count = last == one.npos ? std::nullopt : amount(one.substr(last + 1));
    std::string_view kind = count ? one.substr(0, last) : one;
    if (kind.ends_with(':')) // what is used of GRES without a type: "(null)"
        kind.remove_suffix(1);
    if (kind.empty())
        return;
    counts[std::string(kind.substr(0, kind.find(':')))] += count.value_or(1);
    if (kind.contains(':'))
        counts[std::string(kind)] += count.value_or(1);
}

// Reads a constraint from left to right: '&' and ',' bind closer than '|'.
class Constraint {
  public:
    Constraint(std::string_view text, const std::set<std::string_view> &has)
        : rest_(text), has_(has)
    {
    }

    // Nothing: it is no constraint.
    std::optional<bool> value()
    {
        bool met = any(false);
        return good_ && rest_.empty() ? std::optional(met) : std::nullopt;
    }

  private:
    bool take(char c)
    {
        if (!rest_.starts_with(c))
            return false;
        rest_.remove_prefix(1);
        return true;
    }

    // either: one of what '&' joins suffices.
    bool any(bool either)
    {
        bool met = all(either);
        while (take('|')) {
            bool more = all(either);
            met = met || more;
        }
        return met;
    }

    bool all(bool either)
    {
        bool met = one();
        while (take('&') || take(',')) {
            bool more = one();
            met = either ? met || more : met && more;
        }
        return met;
    }

    bool one()
    {
        for (auto [open, close] : {std::pair('(', ')'), std::pair('[', ']')})
            if (take(open)) {
                if (++depth_ > 20) // nobody nests them
                    good_ = false;
                bool met = good_ && any(open == '[');
                good_ = good_ && take(close);
                depth_--;
                count();
                return met;
            }
        std::size_t end =
            std::min(rest_.find_first_of("&|,()[]*"), rest_.size());
        bool met = has_.contains(rest_.substr(0, end));
        good_ = good_ && end != 0;
        rest_.remove_prefix(end);
        bool counted = count();
        return met || counted;
    }

    // "*2": so many nodes have it, others need not.
    bool count()
    {
        if (!take('*'))
            return false;
        while (!rest_.empty() &&
               std::isdigit(static_cast<unsigned char>(rest_.front())))
            rest_.remove_prefix(1);
        return true;
    }

    std::string_view rest_;
    const std::set<std::string_view> &has_;
    bool good_ = true;
    int depth_ = 0;
};

} // namespace

std::uint32_t count_tasks(std::string_view list, std::uint32_t running)
{
    std::string_view tasks = next_part(list, '%');
    auto most = whole_number<std::uint32_t>(list).value_or(0);
    std::uint32_t count = 0;
    while (!tasks.empty())
        count = std::min(count + tasks_of(next_part(tasks, ',')), most_tasks);
    if (most != 0)
        count = std::min(count, most - std::min(most, running));
    return std::max(count, 1u);
}

GresCounts node_gres(std::string_view text)
{
    GresCounts counts;
    std::string one;
    int depth = 0;
    for (char c : text) {
        depth += c == '(' ? 1 : 0;
        if (depth == 0 && c == ',') {
            add_gres(one, counts);
            one.clear();
        } else if (depth == 0) {
            one += c;
        }
        depth -= c == ')' ? 1 : 0;
    }
    add_gres(one, counts);
    return counts;
}

bool may_have_features(std::string_view constraint, std::string_view features)
{
    if (constraint.empty())
        return true;
    std::set<std::string_view> has;
    for (std::string_view one : all_parts(features, ','))
        has.insert(one);
    // slurmctld has taken it, whatever it means.
    return Constraint(constraint, has).value().value_or(true);
}

} // namespace bridge
