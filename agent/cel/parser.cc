// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/cel/parser.h"

#include <algorithm>
#include <array>
#include <format>

namespace bridge {

namespace {

using Kind = CelNode::Kind;
using Operator = CelParser::Operator;

constexpr std::array relations = {
    Operator{"==", Kind::equal},      Operator{"!=", Kind::not_equal},
    Operator{"<=", Kind::less_equal}, Operator{">=", Kind::greater_equal},
    Operator{"<", Kind::less},        Operator{">", Kind::greater},
    Operator{"in", Kind::in}};

constexpr std::array products = {Operator{"*", Kind::multiply},
                                 Operator{"/", Kind::divide},
                                 Operator{"%", Kind::modulo}};

// Checks that all names are known. Kubernetes checked them when the claim was
// written, but an older or newer version may know other names than this one.
Result<> check_names(const CelNode &node, std::vector<std::string_view> &known)
{
    if (node.kind == Kind::name && !std::ranges::contains(known, node.text))
        return fail_cel(
            std::format("the unknown name '{}'", node.text.substr(0, 40)),
            node.at);
    bool binds = node.kind == Kind::exists || node.kind == Kind::all ||
                 node.kind == Kind::bind;
    for (const CelNodePtr &part : node.parts) {
        bool inside = binds && part == node.parts.back();
        if (inside)
            known.push_back(node.text);
        auto checked = check_names(*part, known);
        if (inside)
            known.pop_back();
        if (!checked)
            return checked;
    }
    return {};
}

} // namespace

Result<CelNodePtr> CelParser::parse()
{
    auto tree = expression();
    if (tree && now().kind != CelToken::Kind::end)
        return unexpected_token();
    return tree;
}

bool CelParser::is(std::string_view symbol) const
{
    return now().kind == CelToken::Kind::symbol && now().text == symbol;
}

bool CelParser::take(std::string_view symbol)
{
    if (!is(symbol))
        return false;
    at_++;
    return true;
}

std::unexpected<Error> CelParser::unexpected_token() const
{
    if (now().kind == CelToken::Kind::end)
        return fail_cel("an unexpected end", now().at);
    if (now().kind == CelToken::Kind::symbol && now().text == "{")
        return fail_cel(std::format("'{}' is not supported", now().text),
                        now().at);
    return fail_cel(
        std::format("'{}' is not expected", now().text.substr(0, 40)),
        now().at);
}

Result<CelNodePtr> CelParser::measured(CelNodePtr node)
{
    for (const CelNodePtr &part : node->parts)
        node->depth = std::max(node->depth, part->depth + 1);
    if (node->depth > max_depth)
        return fail_cel("an expression that is nested too deeply", node->at);
    return node;
}

Result<CelNodePtr> CelParser::expression()
{
    if (++nested_ > max_depth)
        return fail_cel("an expression that is nested too deeply", now().at);
    auto made = conditional();
    nested_--;
    return made;
}

Result<CelNodePtr> CelParser::conditional()
{
    auto condition = chain(Kind::logical_or, "||");
    std::size_t at = now().at;
    if (!condition || !take("?"))
        return condition;
    auto yes = chain(Kind::logical_or, "||");
    if (!yes)
        return yes;
    if (!take(":"))
        return unexpected_token();
    auto no = expression();
    if (!no)
        return no;
    return make(Kind::conditional, at, std::move(*condition), std::move(*yes),
                std::move(*no));
}

Result<CelNodePtr> CelParser::chain(Kind kind, std::string_view symbol)
{
    bool outer = kind == Kind::logical_or;
    auto link = [&] {
        return outer ? chain(Kind::logical_and, "&&") : relation();
    };
    auto first = link();
    if (!first || !is(symbol))
        return first;
    auto made = std::make_unique<CelNode>();
    made->kind = kind;
    made->at = now().at;
    made->parts.push_back(std::move(*first));
    while (take(symbol)) {
        auto next = link();
        if (!next)
            return next;
        made->parts.push_back(std::move(*next));
    }
    return measured(std::move(made));
}

std::optional<CelNode::Kind>
CelParser::operator_here(std::span<const Operator> known) const
{
    for (const Operator &one : known)
        if (is(one.symbol) ||
            (now().kind == CelToken::Kind::name && now().text == one.symbol))
            return one.kind;
    return std::nullopt;
}

Result<CelNodePtr> CelParser::relation()
{
    auto left = sum();
    while (left) {
        auto kind = operator_here(relations);
        if (!kind)
            break;
        std::size_t at = now().at;
        at_++;
        auto right = sum();
        if (!right)
            return right;
        left = make(*kind, at, std::move(*left), std::move(*right));
    }
    return left;
}

Result<CelNodePtr> CelParser::sum()
{
    auto left = product();
    while (left && (is("+") || is("-"))) {
        bool plus = is("+");
        std::size_t at = now().at;
        at_++;
        auto right = product();
        if (!right)
            return right;
        left = plus ? added(std::move(*left), std::move(*right), at)
                    : make(Kind::subtract, at, std::move(*left),
                           std::move(*right));
    }
    return left;
}

// (a + b) + c is the same as a + b + c.
Result<CelNodePtr> CelParser::added(CelNodePtr left, CelNodePtr right,
                                    std::size_t at)
{
    if (left->kind != Kind::add)
        return make(Kind::add, at, std::move(left), std::move(right));
    left->depth = std::max(left->depth, right->depth + 1);
    left->parts.push_back(std::move(right));
    if (left->depth > max_depth)
        return fail_cel("an expression that is nested too deeply", at);
    return left;
}

Result<CelNodePtr> CelParser::product()
{
    auto left = unary();
    while (left) {
        auto kind = operator_here(products);
        if (!kind)
            break;
        std::size_t at = now().at;
        at_++;
        auto right = unary();
        if (!right)
            return right;
        left = make(*kind, at, std::move(*left), std::move(*right));
    }
    return left;
}

Result<CelNodePtr> CelParser::unary()
{
    if (is("!") || is("-"))
        return nested_unary();
    return member();
}

Result<CelNodePtr> CelParser::nested_unary()
{
    const CelToken &sign = now();
    at_++;
    if (sign.text == "-" && (now().kind == CelToken::Kind::integer ||
                             now().kind == CelToken::Kind::real)) {
        signed_ = at_; // at least 1
        return member();
    }
    if (++nested_ > max_depth)
        return fail_cel("an expression that is nested too deeply", sign.at);
    auto part = unary();
    nested_--;
    if (!part)
        return part;
    return make(sign.text == "!" ? Kind::logical_not : Kind::negate, sign.at,
                std::move(*part));
}

Result<CelNodePtr> parse_cel(std::string_view text)
{
    auto tokens = cel_tokens(text);
    if (!tokens)
        return std::unexpected(tokens.error());
    auto tree = CelParser(std::move(*tokens)).parse();
    if (!tree)
        return tree;
    std::vector<std::string_view> known = {"device"};
    if (auto checked = check_names(**tree, known); !checked)
        return std::unexpected(checked.error());
    return tree;
}

} // namespace bridge
