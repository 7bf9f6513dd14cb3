// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/cel/value.h"

#include <format>
#include <optional>

namespace bridge {

namespace {

std::unexpected<Error> no_overload(const CelValue &a, const char *op,
                                   const CelValue &b)
{
    return fail(Code::rejected, std::format("no such overload: {} {} {}",
                                            type_name(a), op, type_name(b)));
}

std::strong_ordering order_of(double a, double b)
{
    return a < b   ? std::strong_ordering::less
           : a > b ? std::strong_ordering::greater
                   : std::strong_ordering::equal;
}

std::strong_ordering order_of(std::int64_t a, double b)
{
    constexpr double beyond = 9223372036854775808.0; // 2^63
    if (b < -beyond)
        return std::strong_ordering::greater;
    if (b >= beyond)
        return std::strong_ordering::less;
    return order_of(static_cast<double>(a), b);
}

bool is_nan(const CelValue &value)
{
    auto *number = std::get_if<double>(&value.is);
    return number && *number != *number;
}

// Compares two numbers. Returns nothing for other types.
std::optional<std::strong_ordering> number_order(const CelValue &a,
                                                 const CelValue &b)
{
    auto *a_int = std::get_if<std::int64_t>(&a.is);
    auto *b_int = std::get_if<std::int64_t>(&b.is);
    auto *a_double = std::get_if<double>(&a.is);
    auto *b_double = std::get_if<double>(&b.is);
    if (a_int && b_int)
        return *a_int <=> *b_int;
    if (a_double && b_double)
        return order_of(*a_double, *b_double);
    if (a_int && b_double)
        return order_of(*a_int, *b_double);
    if (a_double && b_int)
        return 0 <=> order_of(*b_int, *a_double);
    return std::nullopt;
}

Result<bool> equal_lists(const CelList &a, const CelList &b, CelBudget &budget)
{
    if (a->size() != b->size())
        return false;
    for (std::size_t i = 0; i < a->size(); i++) {
        auto same = cel_equal((*a)[i], (*b)[i], budget);
        if (!same || !*same)
            return same;
    }
    return true;
}

Result<bool> equal_optionals(const CelOptional &a, const CelOptional &b,
                             CelBudget &budget)
{
    if (!a.value || !b.value)
        return !a.value && !b.value;
    return cel_equal(*a.value, *b.value, budget);
}

} // namespace

const char *type_name(const CelValue &value)
{
    constexpr const char *names[] = {"bool",     "int",      "double", "string",
                                     "version",  "quantity", "list",   "map",
                                     "optional", "device"};
    static_assert(std::size(names) == std::variant_size_v<decltype(value.is)>);
    return names[value.is.index()];
}

CelValue cel_list(std::vector<CelValue> items)
{
    return {std::make_shared<const std::vector<CelValue>>(std::move(items))};
}

CelValue cel_optional(CelValue value)
{
    return {CelOptional{std::make_shared<const CelValue>(std::move(value))}};
}

CelValue cel_none()
{
    return {CelOptional{}};
}

std::size_t size_of(const CelValue &value)
{
    if (auto *text = std::get_if<std::string>(&value.is))
        return text->size();
    if (auto *list = std::get_if<CelList>(&value.is))
        return (*list)->size();
    return 1;
}

Result<bool> cel_equal(const CelValue &a, const CelValue &b, CelBudget &budget)
{
    if (!budget.spend(1 + size_of(a) / 16))
        return fail(Code::rejected, "too expensive to evaluate");
    if (auto order = number_order(a, b))
        return !is_nan(a) && !is_nan(b) && *order == 0;
    bool same_type = a.is.index() == b.is.index();
    bool strict = std::holds_alternative<Semver>(a.is) ||
                  std::holds_alternative<Quantity>(a.is);
    if (!same_type && strict)
        return no_overload(a, "==", b);
    if (!same_type)
        return false;
    if (auto *list = std::get_if<CelList>(&a.is))
        return equal_lists(*list, std::get<CelList>(b.is), budget);
    if (auto *optional = std::get_if<CelOptional>(&a.is))
        return equal_optionals(*optional, std::get<CelOptional>(b.is), budget);
    if (auto *text = std::get_if<std::string>(&a.is))
        return *text == std::get<std::string>(b.is);
    if (auto *flag = std::get_if<bool>(&a.is))
        return *flag == std::get<bool>(b.is);
    if (auto *version = std::get_if<Semver>(&a.is))
        return *version == std::get<Semver>(b.is);
    if (auto *quantity = std::get_if<Quantity>(&a.is))
        return *quantity == std::get<Quantity>(b.is);
    return no_overload(a, "==", b); // parts of the device are not compared
}

Result<std::strong_ordering> cel_order(const CelValue &a, const CelValue &b)
{
    if (is_nan(a) || is_nan(b))
        return fail(Code::rejected, "NaN has no order");
    if (auto order = number_order(a, b))
        return *order;
    auto *a_text = std::get_if<std::string>(&a.is);
    auto *b_text = std::get_if<std::string>(&b.is);
    if (a_text && b_text)
        return *a_text <=> *b_text;
    auto *a_flag = std::get_if<bool>(&a.is);
    auto *b_flag = std::get_if<bool>(&b.is);
    if (a_flag && b_flag)
        return *a_flag <=> *b_flag;
    return no_overload(a, "<", b);
}

} // namespace bridge
