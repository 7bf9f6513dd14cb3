// SPDX-License-Identifier: GPL-2.0-or-later
// The evaluation of a parsed expression. eval.cc has names, members and the
// operators that may skip an operand; operators.cc has the plain operators, and
// arithmetic.cc those of numbers alone.
// Errors are values in CEL: && and || ignore an error if the other side
// decides.
#pragma once

#include "agent/cel/node.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

class CelEvaluation {
  public:
    CelEvaluation(const Device &device, CelBudget &budget)
        : device_(device), budget_(budget)
    {
    }

    Result<CelValue> of(const CelNode &node);

  private:
    using Kind = CelNode::Kind;
    using Value = Result<CelValue>;

    // Returns a copy of the value and charges its size to the budget.
    Value paid(const CelValue &value);
    Value name(const CelNode &node);
    // Evaluates a.b, a["b"], a.?b and a[?b]. After a "?" every further part is
    // optional.
    Value part(const CelNode &node);
    Value has(const CelNode &node);
    Value list(const CelNode &node);
    // Evaluates && and ||. A deciding operand wins over errors on either side.
    Value logical(const CelNode &node);
    // Takes in one more operand. Returns true if the remaining operands make no
    // difference.
    bool settle(Value operand, bool decides, Value &made);
    Value unary(const CelNode &node);
    Value conditional(const CelNode &node);
    Value equality(const CelNode &node);
    Value order(const CelNode &node);
    Value membership(const CelNode &node);
    Value sum(const CelNode &node);
    Value added(CelValue a, const CelValue &b);
    Value arithmetic(const CelNode &node);
    Value call(const CelNode &node);
    // The characters of a string, or the items of a list or map.
    Value size(const CelValue &of);
    // Evaluates orValue(). The argument is evaluated only if there is no value.
    Value or_value(const CelNode &node);
    // Evaluates exists() as an "or" over the list, and all() as an "and".
    Value quantified(const CelNode &node);
    // Evaluates cel.bind(). An error in the bound value becomes an error where
    // the variable is used.
    Value bind(const CelNode &node);
    Value with(const std::string &name, Value value, const CelNode &in);

    const Device &device_;
    CelBudget &budget_;
    std::vector<std::pair<std::string_view, Value>> scopes_;
};

std::unexpected<Error> cel_failed(std::string what);
std::unexpected<Error> cel_no_overload(std::string_view of,
                                       const CelValue &value);

} // namespace bridge
