// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/priority_class.h"

#include <charconv>

namespace bridge {

namespace {

constexpr std::int32_t max_nice = 2147483645; // as in sbatch

// Returns the first word and removes it from text.
std::string_view pop_word(std::string_view &text)
{
    constexpr std::string_view blank = " \t";
    std::size_t first = text.find_first_not_of(blank);
    if (first == text.npos) {
        text = {};
        return {};
    }
    text.remove_prefix(first);
    std::size_t end = text.find_first_of(blank);
    std::string_view word = text.substr(0, end);
    text.remove_prefix(word.size());
    return word;
}

Result<> set_nice(PriorityClass &to, std::string_view value)
{
    auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), to.nice);
    if (error != std::errc() || end != value.data() + value.size() ||
        to.nice > max_nice || to.nice < -max_nice)
        return fail(Code::rejected, "nice must be a whole number");
    return {};
}

Result<> set_word(PriorityClass &to, std::string_view word)
{
    std::size_t equals = word.find('=');
    std::string_view key = word.substr(0, equals);
    std::string_view value =
        equals == word.npos ? std::string_view{} : word.substr(equals + 1);
    if (key == "nice" && !value.empty())
        return set_nice(to, value);
    if (key != "qos" || value.empty())
        return fail(Code::rejected,
                    "must be NAME qos=QOS nice=NUMBER, but has \"" +
                        std::string(word.substr(0, 64)) + "\"");
    to.qos = value;
    return {};
}

} // namespace

Result<> add_priority_class(PriorityClasses &classes, std::string_view text)
{
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyz0123456789-.";
    std::string name(pop_word(text));
    if (name.size() > 253 || name.find_first_not_of(allowed) != name.npos)
        return fail(Code::rejected,
                    "must begin with the name of a PriorityClass");
    PriorityClass added;
    std::string_view word = pop_word(text);
    if (word.empty())
        return fail(Code::rejected, "must say qos=QOS or nice=NUMBER");
    for (; !word.empty(); word = pop_word(text))
        if (auto set = set_word(added, word); !set)
            return set;
    if (!classes.emplace(std::move(name), std::move(added)).second)
        return fail(Code::rejected, "names a PriorityClass twice");
    return {};
}

} // namespace bridge
