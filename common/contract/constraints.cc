// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/constraints.h"

#include "common/base/ascii.h"
#include "common/contract/names.h"

#include <algorithm>

namespace bridge {

namespace {

// Characters that slurmctld accepts in a feature. Names are not checked
// further: slurmctld refuses features that no node has.
bool is_feature_character(char c)
{
    constexpr std::string_view others = "_-.:=+/@%";
    return is_letter_or_digit(c) || others.contains(c);
}

bool has_parentheses(std::string_view text)
{
    return text.contains('(');
}

// Reads one part after the other from the front of text. Each function returns
// false if that part is not there.
struct Reader {
    std::string_view text;

    bool take(char c)
    {
        if (text.empty() || text.front() != c)
            return false;
        text.remove_prefix(1);
        return true;
    }

    // Slurm reads a comma as '&'.
    bool parse_and() { return take('&') || take(','); }

    bool feature()
    {
        auto end = std::ranges::find_if_not(text, is_feature_character);
        auto size = static_cast<std::size_t>(end - text.begin());
        bool ours = text.substr(0, size).starts_with(names::predicate_prefix);
        text.remove_prefix(size);
        return size != 0 && !ours;
    }

    bool features()
    {
        if (!feature())
            return false;
        while (parse_and() || take('|'))
            if (!feature())
                return false;
        return true;
    }

    bool group() { return take('(') ? features() && take(')') : feature(); }

    bool groups()
    {
        if (!group())
            return false;
        while (parse_and())
            if (!group())
                return false;
        return true;
    }
};

} // namespace

std::string unfit_constraint_reason(std::string_view users)
{
    Reader reader{users};
    bool good = has_parentheses(users) ? reader.groups() : reader.features();
    if (good && reader.text.empty())
        return {};
    return "be features joined by & or |, or groups of them in parentheses "
           "joined by &; brackets, counts and features that begin with " +
           std::string(names::predicate_prefix) + " are not supported for Pods";
}

std::string join_constraints(std::string_view users,
                             const std::vector<std::string> &ours)
{
    std::string all;
    if (has_parentheses(users) || users.empty())
        all = users;
    else
        all = "(" + std::string(users) + ")";
    for (const std::string &feature : ours)
        all += (all.empty() ? "" : "&") + feature;
    return all;
}

} // namespace bridge
