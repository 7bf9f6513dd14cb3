// SPDX-License-Identifier: GPL-2.0-or-later
// Parses tokens into a tree by recursive descent. parser.cc has the operators,
// operands.cc their operands. No tree is deeper than max_depth, so that neither
// its evaluation nor its destruction needs much stack.
#pragma once

#include "agent/cel/lexer.h"
#include "agent/cel/node.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

class CelParser {
  public:
    struct Operator {
        std::string_view symbol;
        CelNode::Kind kind;
    };

    explicit CelParser(std::vector<CelToken> tokens)
        : tokens_(std::move(tokens))
    {
    }

    Result<CelNodePtr> parse();

  private:
    using Kind = CelNode::Kind;
    using Node = Result<CelNodePtr>;

    static constexpr int max_depth = 100;

    const CelToken &now() const { return tokens_[at_]; }
    bool is(std::string_view symbol) const;
    bool take(std::string_view symbol);
    std::unexpected<Error> unexpected_token() const;

    // Makes a node that owns the parts. Returns Code::rejected if the tree
    // would become too deep.
    template <class... Parts>
    Node make(Kind kind, std::size_t at, Parts... parts)
    {
        auto node = std::make_unique<CelNode>();
        node->kind = kind;
        node->at = at;
        (node->parts.push_back(std::move(parts)), ...);
        return measured(std::move(node));
    }
    Node measured(CelNodePtr node);

    Node expression();
    Node conditional();
    // Parses a chain such as a || b || c into one node, however long it is.
    Node chain(Kind kind, std::string_view symbol);
    std::optional<Kind> operator_here(std::span<const Operator> known) const;
    Node relation();
    // Parses a + b - c. A run of + becomes one node, however long it is.
    Node sum();
    Node added(CelNodePtr left, CelNodePtr right, std::size_t at);
    Node product();
    Node unary();
    Node nested_unary();

    Node member();
    Node dot(CelNodePtr of, std::size_t at);
    Node index(CelNodePtr of, std::size_t at);
    // Parses the arguments after the opening bracket up to and including the
    // closing one.
    Result<std::vector<CelNodePtr>> arguments(std::string_view end);
    Node method(CelNodePtr of, std::string name, std::size_t at);
    // Parses a macro, whose first argument is the name of a variable.
    Node macro(Kind kind, CelNodePtr of, std::vector<CelNodePtr> parts,
               std::size_t expected, std::size_t at);
    Node call(Kind kind, std::string name, std::vector<CelNodePtr> parts,
              std::size_t at);
    Node has(std::vector<CelNodePtr> parts, std::size_t at);
    Node primary();
    Node list();
    Node named();
    Node literal(CelValue value, std::size_t at);
    bool negative() const;
    Node integer();
    Node real();

    std::vector<CelToken> tokens_;
    std::size_t at_ = 0;
    std::size_t signed_ = 0; // the number that has the sign before it
    int nested_ = 0;
};

} // namespace bridge
