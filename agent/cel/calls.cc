// SPDX-License-Identifier: GPL-2.0-or-later
// The functions and methods of CEL that selectors may use. The evaluation
// itself handles orValue(), which may skip its argument, and size(), which
// looks at the device; here they have their numbers of arguments.
#include "agent/cel/node.h"

#include <array>
#include <format>

namespace bridge {

namespace {

using Arguments = std::vector<CelValue>;

struct Function {
    std::string_view name;
    bool method;
    std::size_t arguments; // with what a method is called on
    Result<CelValue> (*call)(const CelNode &, Arguments &, CelBudget &);
};

std::unexpected<Error> no_overload(const CelNode &call, const Arguments &all)
{
    std::string types;
    for (const CelValue &one : all)
        types += (types.empty() ? "" : ", ") + std::string(type_name(one));
    return fail(Code::rejected,
                std::format("no such overload: {}({})", call.text, types));
}

// Returns argument i, or null if it has another type.
template <class T> T *get(Arguments &all, std::size_t i)
{
    return i < all.size() ? std::get_if<T>(&all[i].is) : nullptr;
}

// Calls a function of two strings.
template <auto function>
Result<CelValue> of_texts(const CelNode &call, Arguments &all, CelBudget &)
{
    auto *text = get<std::string>(all, 0);
    auto *other = get<std::string>(all, 1);
    if (!text || !other)
        return no_overload(call, all);
    return CelValue{function(*text, *other)};
}

Result<CelValue> matches(const CelNode &call, Arguments &all, CelBudget &budget)
{
    auto *text = get<std::string>(all, 0);
    auto *pattern = get<std::string>(all, 1);
    if (!text || !pattern)
        return no_overload(call, all);
    std::shared_ptr<const Regex> regex = call.pattern;
    if (!regex) {
        if (!budget.spend(Regex::max_steps + 200 * pattern->size()))
            return fail(Code::rejected, "too expensive to evaluate");
        auto made = Regex::compile(*pattern);
        if (!made)
            return std::unexpected(made.error());
        regex = std::make_shared<const Regex>(std::move(*made));
    }
    if (!budget.spend(regex->cost(*text) / 16))
        return fail(Code::rejected, "too expensive to evaluate");
    return CelValue{regex->matches(*text)};
}

// Changes the case of the 26 letters that begin with first.
template <char first>
Result<CelValue> other_case(const CelNode &call, Arguments &all, CelBudget &)
{
    auto *text = get<std::string>(all, 0);
    if (!text)
        return no_overload(call, all);
    for (char &c : *text)
        if (c >= first && c < first + 26)
            c ^= 'a' ^ 'A';
    return CelValue{std::move(*text)};
}

Result<CelValue> quantity(const CelNode &call, Arguments &all, CelBudget &)
{
    auto *text = get<std::string>(all, 0);
    if (!text)
        return no_overload(call, all);
    auto value = Quantity::parse(*text);
    if (!value)
        return std::unexpected(value.error());
    return CelValue{*value};
}

Result<CelValue> is_quantity(const CelNode &call, Arguments &all, CelBudget &)
{
    auto *text = get<std::string>(all, 0);
    if (!text)
        return no_overload(call, all);
    return CelValue{Quantity::parse(*text).has_value()};
}

Result<CelValue> semver(const CelNode &call, Arguments &all, CelBudget &)
{
    auto *text = get<std::string>(all, 0);
    if (!text)
        return no_overload(call, all);
    auto value = Semver::parse(*text);
    if (!value)
        return fail(Code::rejected,
                    std::format("\"{}\" is not a semantic version",
                                text->substr(0, 64)));
    return CelValue{std::move(*value)};
}

Result<CelValue> is_semver(const CelNode &call, Arguments &all, CelBudget &)
{
    auto *text = get<std::string>(all, 0);
    if (!text)
        return no_overload(call, all);
    return CelValue{Semver::parse(*text).has_value()};
}

// Compares two quantities or two versions: returns -1, 0 or 1, or nothing for
// other types.
std::optional<std::int64_t> compare(Arguments &all)
{
    auto sign = [](std::strong_ordering order) {
        return std::int64_t{order > 0} - std::int64_t{order < 0};
    };
    auto *amount = get<Quantity>(all, 0);
    auto *other_amount = get<Quantity>(all, 1);
    if (amount && other_amount)
        return sign(*amount <=> *other_amount);
    auto *version = get<Semver>(all, 0);
    auto *other_version = get<Semver>(all, 1);
    if (version && other_version)
        return sign(*version <=> *other_version);
    return std::nullopt;
}

Result<CelValue> compare_to(const CelNode &call, Arguments &all, CelBudget &)
{
    auto order = compare(all);
    if (!order)
        return no_overload(call, all);
    return CelValue{*order};
}

template <std::int64_t wanted>
Result<CelValue> is_ordered(const CelNode &call, Arguments &all, CelBudget &)
{
    auto order = compare(all);
    if (!order)
        return no_overload(call, all);
    return CelValue{*order == wanted};
}

Result<CelValue> elsewhere(const CelNode &call, Arguments &all, CelBudget &)
{
    return no_overload(call, all);
}

Result<CelValue> has_value(const CelNode &call, Arguments &all, CelBudget &)
{
    auto *optional = get<CelOptional>(all, 0);
    if (!optional)
        return no_overload(call, all);
    return CelValue{optional->value != nullptr};
}

Result<CelValue> value(const CelNode &call, Arguments &all, CelBudget &)
{
    auto *optional = get<CelOptional>(all, 0);
    if (!optional)
        return no_overload(call, all);
    if (!optional->value)
        return fail(Code::rejected, "value() of an optional without a value");
    return *optional->value;
}

bool starts_with(const std::string &text, const std::string &start)
{
    return text.starts_with(start);
}

bool ends_with(const std::string &text, const std::string &end)
{
    return text.ends_with(end);
}

bool contains(const std::string &text, const std::string &part)
{
    return text.contains(part);
}

constexpr std::array functions = {
    Function{"startsWith", true, 2, of_texts<starts_with>},
    Function{"endsWith", true, 2, of_texts<ends_with>},
    Function{"contains", true, 2, of_texts<contains>},
    Function{"matches", true, 2, matches},
    Function{"matches", false, 2, matches},
    Function{"lowerAscii", true, 1, other_case<'A'>},
    Function{"upperAscii", true, 1, other_case<'a'>},
    Function{"quantity", false, 1, quantity},
    Function{"isQuantity", false, 1, is_quantity},
    Function{"semver", false, 1, semver},
    Function{"isSemver", false, 1, is_semver},
    Function{"compareTo", true, 2, compare_to},
    Function{"isGreaterThan", true, 2, is_ordered<1>},
    Function{"isLessThan", true, 2, is_ordered<-1>},
    Function{"orValue", true, 2, elsewhere},
    Function{"size", true, 1, elsewhere},
    Function{"size", false, 1, elsewhere},
    Function{"hasValue", true, 1, has_value},
    Function{"value", true, 1, value},
};

const Function *find_function(std::string_view name, bool method)
{
    for (const Function &one : functions)
        if (one.name == name && one.method == method)
            return &one;
    return nullptr;
}

} // namespace

std::size_t cel_arguments(std::string_view name, bool method)
{
    const Function *function = find_function(name, method);
    return function ? function->arguments : 0;
}

Result<CelValue> call_cel(const CelNode &call, std::vector<CelValue> arguments,
                          CelBudget &budget)
{
    const Function *function =
        find_function(call.text, call.kind == CelNode::Kind::method);
    if (!function || arguments.size() != function->arguments)
        return no_overload(call, arguments);
    std::size_t cost = 1;
    for (const CelValue &one : arguments)
        cost += size_of(one) / 8;
    if (!budget.spend(cost))
        return fail(Code::rejected, "too expensive to evaluate");
    return function->call(call, arguments, budget);
}

} // namespace bridge
