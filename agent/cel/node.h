// SPDX-License-Identifier: GPL-2.0-or-later
// A parsed CEL expression as a tree. Pure.
#pragma once

#include "agent/cel/regex.h"
#include "agent/cel/value.h"
#include "common/base/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct CelNode {
    enum class Kind {
        literal,
        name,          // text
        select,        // parts[0].text, or parts[0].?text
        index,         // parts[0][parts[1]], or [?…]
        has,           // has(parts[0].text)
        list,          // [parts…]
        logical_and,   // two parts or more
        logical_or,    // two parts or more
        logical_not,   // parts[0]
        negate,        // parts[0]
        conditional,   // parts[0] ? parts[1] : parts[2]
        equal,         // parts[0] == parts[1]
        not_equal,     //
        less,          //
        less_equal,    //
        greater,       //
        greater_equal, //
        in,            //
        add,           // two parts or more
        subtract,      // parts[0] - parts[1]
        multiply,      //
        divide,        //
        modulo,        //
        call,          // text(parts…)
        method,        // parts[0].text(parts[1], …)
        exists,        // parts[0].exists(text, parts[1])
        all,           //
        bind,          // cel.bind(text, parts[0], parts[1])
    };

    Kind kind = Kind::literal;
    std::size_t at = 0; // byte in the expression
    std::string text{};
    bool optional = false;
    CelValue value{}; // the value of a literal
    // Compiled pattern of matches("literal").
    std::shared_ptr<const Regex> pattern{};
    std::vector<std::unique_ptr<CelNode>> parts{};
    int depth = 1;
};

using CelNodePtr = std::unique_ptr<CelNode>;

// Parses an expression. Returns Code::rejected with a message that names what
// is not supported and at which byte.
Result<CelNodePtr> parse_cel(std::string_view text);

// Evaluates the expression for the device. Code::rejected: see
// CelSelector::matches().
Result<CelValue> evaluate_cel(const CelNode &node, const Device &device,
                              CelBudget &budget);

// Calls a function, or a method, whose first argument is the object on which it
// is called.
Result<CelValue> call_cel(const CelNode &call, std::vector<CelValue> arguments,
                          CelBudget &budget);

// Returns the number of arguments of a function or method, including the object
// of a method. 0: it is not supported.
std::size_t cel_arguments(std::string_view name, bool method);

} // namespace bridge
