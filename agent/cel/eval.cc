// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/cel/evaluation.h"

#include "agent/cel/members.h"
#include "common/base/utf8.h"

#include <format>

namespace bridge {

std::unexpected<Error> cel_failed(std::string what)
{
    return fail(Code::rejected, std::move(what));
}

std::unexpected<Error> cel_no_overload(std::string_view of,
                                       const CelValue &value)
{
    return cel_failed(
        std::format("no such overload: {} of {}", of, type_name(value)));
}

Result<CelValue> CelEvaluation::of(const CelNode &node)
{
    if (!budget_.spend(1))
        return cel_failed("too expensive to evaluate");
    switch (node.kind) {
    case Kind::literal:
        return paid(node.value);
    case Kind::name:
        return name(node);
    case Kind::select:
    case Kind::index:
        return part(node);
    case Kind::has:
        return has(node);
    case Kind::list:
        return list(node);
    case Kind::logical_and:
    case Kind::logical_or:
        return logical(node);
    case Kind::logical_not:
    case Kind::negate:
        return unary(node);
    case Kind::conditional:
        return conditional(node);
    case Kind::equal:
    case Kind::not_equal:
        return equality(node);
    case Kind::less:
    case Kind::less_equal:
    case Kind::greater:
    case Kind::greater_equal:
        return order(node);
    case Kind::in:
        return membership(node);
    case Kind::add:
        return sum(node);
    case Kind::subtract:
    case Kind::multiply:
    case Kind::divide:
    case Kind::modulo:
        return arithmetic(node);
    case Kind::call:
    case Kind::method:
        return call(node);
    case Kind::exists:
    case Kind::all:
        return quantified(node);
    case Kind::bind:
        return bind(node);
    }
    return cel_failed("an unknown kind of expression");
}

Result<CelValue> CelEvaluation::paid(const CelValue &value)
{
    if (!budget_.spend(1 + size_of(value) / 64))
        return cel_failed("too expensive to evaluate");
    return value;
}

Result<CelValue> CelEvaluation::name(const CelNode &node)
{
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); scope++)
        if (scope->first == node.text)
            return scope->second ? paid(*scope->second) : scope->second;
    return CelValue{CelDeviceObject{}};
}

Result<CelValue> CelEvaluation::part(const CelNode &node)
{
    Value from = of(*node.parts[0]);
    if (!from)
        return from;
    bool optional = node.optional;
    if (auto *chain = std::get_if<CelOptional>(&from->is)) {
        if (!chain->value)
            return cel_none();
        optional = true;
        CelValue inside = *chain->value;
        from = std::move(inside);
    }
    Value key =
        node.kind == Kind::index ? of(*node.parts[1]) : CelValue{node.text};
    if (!key)
        return key;
    bool missing = false;
    Value found = cel_member(device_, *from, *key, missing);
    if (!optional)
        return found ? paid(*found) : found;
    if (missing)
        return cel_none();
    if (found)
        found = paid(*found);
    if (!found)
        return found;
    return cel_optional(std::move(*found));
}

Result<CelValue> CelEvaluation::has(const CelNode &node)
{
    Value from = of(*node.parts[0]);
    if (!from)
        return from;
    if (auto *chain = std::get_if<CelOptional>(&from->is)) {
        if (!chain->value)
            return CelValue{false};
        CelValue inside = *chain->value;
        from = std::move(inside);
    }
    bool missing = false;
    Value found = cel_member(device_, *from, CelValue{node.text}, missing);
    if (!found && !missing)
        return found;
    return CelValue{!missing};
}

Result<CelValue> CelEvaluation::list(const CelNode &node)
{
    std::vector<CelValue> items;
    for (const CelNodePtr &part : node.parts) {
        Value item = of(*part);
        if (!item)
            return item;
        items.push_back(std::move(*item));
    }
    return cel_list(std::move(items));
}

Result<CelValue> CelEvaluation::logical(const CelNode &node)
{
    bool decides = node.kind == Kind::logical_or;
    Value made = CelValue{!decides};
    for (const CelNodePtr &part : node.parts)
        if (settle(of(*part), decides, made))
            break;
    return made;
}

bool CelEvaluation::settle(Value operand, bool decides, Value &made)
{
    auto *flag = operand ? std::get_if<bool>(&operand->is) : nullptr;
    if (flag && *flag == decides) {
        made = CelValue{decides};
        return true;
    }
    if (!flag && made)
        made = operand ? Value(cel_no_overload("a condition", *operand))
                       : std::move(operand);
    return budget_.spent();
}

Result<CelValue> CelEvaluation::conditional(const CelNode &node)
{
    Value condition = of(*node.parts[0]);
    if (!condition)
        return condition;
    auto *flag = std::get_if<bool>(&condition->is);
    if (!flag)
        return cel_no_overload("?:", *condition);
    return of(*node.parts[*flag ? 1 : 2]);
}

Result<CelValue> CelEvaluation::call(const CelNode &node)
{
    if (node.text == "orValue")
        return or_value(node);
    std::vector<CelValue> arguments;
    for (const CelNodePtr &part : node.parts) {
        Value argument = of(*part);
        if (!argument)
            return argument;
        arguments.push_back(std::move(*argument));
    }
    if (node.text == "size")
        return size(arguments.front());
    return call_cel(node, std::move(arguments), budget_);
}

Result<CelValue> CelEvaluation::size(const CelValue &of)
{
    std::size_t count = 0;
    if (auto *text = std::get_if<std::string>(&of.is))
        count = characters_in(*text);
    else if (auto *list = std::get_if<CelList>(&of.is))
        count = (*list)->size();
    else if (auto *map = std::get_if<CelMap>(&of.is))
        count = cel_keys(device_, *map).size();
    else
        return cel_no_overload("size()", of);
    return CelValue{static_cast<std::int64_t>(count)};
}

Result<CelValue> CelEvaluation::or_value(const CelNode &node)
{
    Value value = of(*node.parts[0]);
    if (!value)
        return value;
    auto *optional = std::get_if<CelOptional>(&value->is);
    if (!optional)
        return cel_no_overload("orValue()", *value);
    return optional->value ? paid(*optional->value) : of(*node.parts[1]);
}

Result<CelValue> CelEvaluation::quantified(const CelNode &node)
{
    Value over = of(*node.parts[0]);
    if (!over)
        return over;
    std::vector<CelValue> items;
    if (auto *list = std::get_if<CelList>(&over->is))
        items = **list;
    else if (auto *map = std::get_if<CelMap>(&over->is))
        for (std::string &key : cel_keys(device_, *map))
            items.push_back({std::move(key)});
    else
        return cel_no_overload(node.kind == Kind::all ? "all()" : "exists()",
                               *over);
    bool decides = node.kind == Kind::exists;
    Value made = CelValue{!decides};
    for (CelValue &item : items)
        if (settle(with(node.text, std::move(item), *node.parts[1]), decides,
                   made))
            break;
    return made;
}

Result<CelValue> CelEvaluation::bind(const CelNode &node)
{
    return with(node.text, of(*node.parts[0]), *node.parts[1]);
}

Result<CelValue> CelEvaluation::with(const std::string &name, Value value,
                                     const CelNode &in)
{
    scopes_.emplace_back(name, std::move(value));
    Value made = of(in);
    scopes_.pop_back();
    return made;
}

Result<CelValue> evaluate_cel(const CelNode &node, const Device &device,
                              CelBudget &budget)
{
    auto made = CelEvaluation(device, budget).of(node);
    if (budget.spent())
        return cel_failed("too expensive to evaluate");
    return made;
}

} // namespace bridge
