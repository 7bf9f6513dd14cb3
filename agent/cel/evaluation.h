// SPDX-License-Identifier: GPL-2.0-or-later
// The evaluation of a parsed expression: eval.cc has names, members and what
// may leave a part out, operators.cc the plain operators. Errors are values
// in CEL: && and || take none for an answer when the other side decides.
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

    // Copies cost, too.
    Value paid(const CelValue &value);
    Value name(const CelNode &node);
    // a.b, a["b"], a.?b, a[?b]. Behind a "?", everything is optional.
    Value part(const CelNode &node);
    Value has(const CelNode &node);
    Value list(const CelNode &node);
    // What decides wins over errors, on whatever side of them it is.
    Value logical(const CelNode &node);
    // One more operand; true when the rest makes no difference.
    bool settle(Value operand, bool decides, Value &made);
    Value unary(const CelNode &node);
    Value conditional(const CelNode &node);
    Value equality(const CelNode &node);
    Value order(const CelNode &node);
    Value membership(const CelNode &node);
    Value sum(const CelNode &node);
    Value added(CelValue a, const CelValue &b);
    Value call(const CelNode &node);
    // The argument is looked at only when there is no value.
    Value or_value(const CelNode &node);
    // exists() is an "or" over the list, all() an "and".
    Value quantified(const CelNode &node);
    // An error in what is bound is one where it is used.
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
