// SPDX-License-Identifier: GPL-2.0-or-later
// The operators - * / % of two numbers. + is in operators.cc, since strings and
// lists have it, too. As in cel-go, integers and reals do not mix.
#include "agent/cel/evaluation.h"

#include <limits>
#include <string_view>

namespace bridge {

namespace {

using Kind = CelNode::Kind;

std::string_view symbol_of(Kind kind)
{
    switch (kind) {
    case Kind::subtract:
        return "-";
    case Kind::multiply:
        return "*";
    case Kind::divide:
        return "/";
    default:
        return "%";
    }
}

Result<CelValue> integers(Kind kind, std::int64_t a, std::int64_t b)
{
    std::int64_t made = 0;
    bool overflows = false;
    if (kind == Kind::subtract) {
        overflows = __builtin_sub_overflow(a, b, &made);
    } else if (kind == Kind::multiply) {
        overflows = __builtin_mul_overflow(a, b, &made);
    } else if (b == 0) {
        return cel_failed(kind == Kind::divide ? "division by zero"
                                               : "modulus by zero");
    } else {
        overflows = a == std::numeric_limits<std::int64_t>::min() && b == -1;
        if (!overflows)
            made = kind == Kind::divide ? a / b : a % b;
    }
    if (overflows)
        return cel_failed("integer overflow");
    return CelValue{made};
}

Result<CelValue> reals(Kind kind, double a, double b)
{
    switch (kind) {
    case Kind::subtract:
        return CelValue{a - b};
    case Kind::multiply:
        return CelValue{a * b};
    case Kind::divide:
        return CelValue{a / b}; // by zero: infinity, or not a number
    default:
        return cel_no_overload("%", CelValue{b});
    }
}

} // namespace

Result<CelValue> CelEvaluation::arithmetic(const CelNode &node)
{
    Value left = of(*node.parts[0]);
    if (!left)
        return left;
    Value right = of(*node.parts[1]);
    if (!right)
        return right;
    auto *integer = std::get_if<std::int64_t>(&left->is);
    auto *other_integer = std::get_if<std::int64_t>(&right->is);
    if (integer && other_integer)
        return integers(node.kind, *integer, *other_integer);
    auto *real = std::get_if<double>(&left->is);
    auto *other_real = std::get_if<double>(&right->is);
    if (real && other_real)
        return reals(node.kind, *real, *other_real);
    return cel_no_overload(symbol_of(node.kind), *right);
}

} // namespace bridge
