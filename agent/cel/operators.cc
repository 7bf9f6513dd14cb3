// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/cel/evaluation.h"

#include "agent/cel/members.h"

#include <algorithm>
#include <limits>

namespace bridge {

Result<CelValue> CelEvaluation::equality(const CelNode &node)
{
    Value left = of(*node.parts[0]);
    if (!left)
        return left;
    Value right = of(*node.parts[1]);
    if (!right)
        return right;
    auto same = cel_equal(*left, *right, budget_);
    // As in cel-go, values that cannot be compared are different.
    if (node.kind == Kind::not_equal)
        return CelValue{!same || !*same};
    if (!same)
        return std::unexpected(same.error());
    return CelValue{*same};
}

Result<CelValue> CelEvaluation::order(const CelNode &node)
{
    Value left = of(*node.parts[0]);
    if (!left)
        return left;
    Value right = of(*node.parts[1]);
    if (!right)
        return right;
    if (!budget_.spend(size_of(*left) / 16))
        return cel_failed("too expensive to evaluate");
    auto found = cel_order(*left, *right);
    if (!found)
        return std::unexpected(found.error());
    switch (node.kind) {
    case Kind::less:
        return CelValue{*found < 0};
    case Kind::less_equal:
        return CelValue{*found <= 0};
    case Kind::greater:
        return CelValue{*found > 0};
    default:
        return CelValue{*found >= 0};
    }
}

Result<CelValue> CelEvaluation::membership(const CelNode &node)
{
    if (node.parts[1]->kind == Kind::list && node.parts[1]->parts.empty())
        return CelValue{false}; // cel-go does not even look at the left side
    Value needle = of(*node.parts[0]);
    if (!needle)
        return needle;
    Value from = of(*node.parts[1]);
    if (!from)
        return from;
    if (auto *map = std::get_if<CelMap>(&from->is)) {
        auto *key = std::get_if<std::string>(&needle->is);
        return CelValue{key &&
                        std::ranges::contains(cel_keys(device_, *map), *key)};
    }
    auto *list = std::get_if<CelList>(&from->is);
    if (!list)
        return cel_no_overload("in", *from);
    for (const CelValue &item : **list) {
        auto same = cel_equal(*needle, item, budget_);
        if (same && *same)
            return CelValue{true};
    }
    return CelValue{false}; // what cannot be compared is different
}

Result<CelValue> CelEvaluation::sum(const CelNode &node)
{
    Value made = of(*node.parts[0]);
    for (std::size_t i = 1; made && i < node.parts.size(); i++) {
        Value next = of(*node.parts[i]);
        if (!next)
            return next;
        if (!budget_.spend(size_of(*next)))
            return cel_failed("too expensive to evaluate");
        made = added(std::move(*made), *next);
    }
    if (made && !budget_.spend(size_of(*made)))
        return cel_failed("too expensive to evaluate");
    return made;
}

Result<CelValue> CelEvaluation::added(CelValue a, const CelValue &b)
{
    if (a.is.index() != b.is.index())
        return cel_no_overload("+", b);
    if (auto *text = std::get_if<std::string>(&a.is)) {
        *text += std::get<std::string>(b.is);
        return a;
    }
    if (auto *real = std::get_if<double>(&a.is))
        return CelValue{*real + std::get<double>(b.is)};
    if (auto *list = std::get_if<CelList>(&a.is)) {
        if (!budget_.spend((*list)->size()))
            return cel_failed("too expensive to evaluate");
        std::vector<CelValue> items = **list;
        const auto &more = *std::get<CelList>(b.is);
        items.insert(items.end(), more.begin(), more.end());
        return cel_list(std::move(items));
    }
    auto *integer = std::get_if<std::int64_t>(&a.is);
    std::int64_t total = 0;
    if (!integer)
        return cel_no_overload("+", b);
    if (__builtin_add_overflow(*integer, std::get<std::int64_t>(b.is), &total))
        return cel_failed("integer overflow");
    return CelValue{total};
}

Result<CelValue> CelEvaluation::unary(const CelNode &node)
{
    Value value = of(*node.parts[0]);
    if (!value)
        return value;
    if (node.kind == Kind::logical_not) {
        auto *flag = std::get_if<bool>(&value->is);
        return flag ? Value(CelValue{!*flag}) : cel_no_overload("!", *value);
    }
    if (auto *real = std::get_if<double>(&value->is))
        return CelValue{-*real};
    auto *integer = std::get_if<std::int64_t>(&value->is);
    if (!integer)
        return cel_no_overload("-", *value);
    if (*integer == std::numeric_limits<std::int64_t>::min())
        return cel_failed("integer overflow");
    return CelValue{-*integer};
}

} // namespace bridge
