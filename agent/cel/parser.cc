// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/cel/parser.h"

#include <algorithm>
#include <array>
#include <format>

namespace bridge {

namespace {

struct Relation {
    std::string_view symbol;
    CelNode::Kind kind;
};

using Kind = CelNode::Kind;

constexpr std::array relations = {
    Relation{"==", Kind::equal},      Relation{"!=", Kind::not_equal},
    Relation{"<=", Kind::less_equal}, Relation{">=", Kind::greater_equal},
    Relation{"<", Kind::less},        Relation{">", Kind::greater},
    Relation{"in", Kind::in}};

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
    if (now().kind == CelToken::Kind::symbol &&
        std::string_view("-*/%{").contains(now().text))
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
    auto first = link(kind);
    if (!first || !is(symbol))
        return first;
    auto made = std::make_unique<CelNode>();
    made->kind = kind;
    made->at = now().at;
    made->parts.push_back(std::move(*first));
    while (take(symbol)) {
        auto next = link(kind);
        if (!next)
            return next;
        made->parts.push_back(std::move(*next));
    }
    return measured(std::move(made));
}

Result<CelNodePtr> CelParser::link(Kind kind)
{
    if (kind == Kind::logical_or)
        return chain(Kind::logical_and, "&&");
    return kind == Kind::logical_and ? relation() : unary();
}

std::optional<CelNode::Kind> CelParser::relation_here() const
{
    for (const Relation &one : relations)
        if (is(one.symbol) ||
            (now().kind == CelToken::Kind::name && now().text == one.symbol))
            return one.kind;
    return std::nullopt;
}

Result<CelNodePtr> CelParser::relation()
{
    auto left = chain(Kind::add, "+");
    while (left) {
        auto kind = relation_here();
        if (!kind)
            break;
        std::size_t at = now().at;
        at_++;
        auto right = chain(Kind::add, "+");
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
                             now().kind == CelToken::Kind::real))
        return member(); // the number looks at the token before it
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
