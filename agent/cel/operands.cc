// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/cel/parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <format>
#include <iterator>

namespace bridge {

namespace {

using Kind = CelNode::Kind;

constexpr std::array<std::string_view, 17> reserved = {
    "as",        "break",  "const",  "continue", "else", "for",
    "function",  "if",     "import", "let",      "loop", "package",
    "namespace", "return", "var",    "void",     "while"};

// Compiles the literal pattern. Returns null if it is not a string; its
// evaluation then reports the error.
Result<std::shared_ptr<const Regex>> pattern_of(const CelNode &literal)
{
    auto *text = std::get_if<std::string>(&literal.value.is);
    if (!text)
        return nullptr;
    auto regex = Regex::compile(*text);
    if (!regex)
        return std::unexpected(regex.error());
    return std::make_shared<const Regex>(std::move(*regex));
}

} // namespace

Result<CelNodePtr> CelParser::member()
{
    auto made = primary();
    while (made) {
        std::size_t at = now().at;
        if (take("."))
            made = dot(std::move(*made), at);
        else if (take("["))
            made = index(std::move(*made), at);
        else
            break;
    }
    return made;
}

Result<CelNodePtr> CelParser::dot(CelNodePtr of, std::size_t at)
{
    bool optional = take("?");
    if (now().kind != CelToken::Kind::name || now().text == "in")
        return unexpected_token();
    std::string name = now().text;
    std::size_t name_at = now().at;
    at_++;
    if (!optional && take("("))
        return method(std::move(of), std::move(name), name_at);
    auto made = make(Kind::select, at, std::move(of));
    if (made) {
        (*made)->text = std::move(name);
        (*made)->optional = optional;
    }
    return made;
}

Result<CelNodePtr> CelParser::index(CelNodePtr of, std::size_t at)
{
    bool optional = take("?");
    auto key = expression();
    if (!key)
        return key;
    if (!take("]"))
        return unexpected_token();
    auto made = make(Kind::index, at, std::move(of), std::move(*key));
    if (made)
        (*made)->optional = optional;
    return made;
}

Result<std::vector<CelNodePtr>> CelParser::arguments(std::string_view end)
{
    std::vector<CelNodePtr> parts;
    if (take(end))
        return parts;
    do {
        if (end == "]" && is("]") && !parts.empty())
            break; // [1, 2,]
        auto part = expression();
        if (!part)
            return std::unexpected(part.error());
        parts.push_back(std::move(*part));
    } while (take(","));
    if (!take(end))
        return unexpected_token();
    return parts;
}

Result<CelNodePtr> CelParser::method(CelNodePtr of, std::string name,
                                     std::size_t at)
{
    bool is_cel = of->kind == Kind::name && of->text == "cel";
    auto parts = arguments(")");
    if (!parts)
        return std::unexpected(parts.error());
    if (is_cel && name == "bind")
        return macro(Kind::bind, nullptr, std::move(*parts), 3, at);
    if (name == "exists" || name == "all")
        return macro(name == "all" ? Kind::all : Kind::exists, std::move(of),
                     std::move(*parts), 2, at);
    parts->insert(parts->begin(), std::move(of));
    return call(Kind::method, std::move(name), std::move(*parts), at);
}

Result<CelNodePtr> CelParser::macro(Kind kind, CelNodePtr of,
                                    std::vector<CelNodePtr> parts,
                                    std::size_t expected, std::size_t at)
{
    if (parts.size() != expected || parts.front()->kind != Kind::name ||
        parts.front()->text == "device")
        return fail_cel("a macro with arguments other than "
                        "a variable and an expression",
                        at);
    auto made = std::make_unique<CelNode>();
    made->kind = kind;
    made->at = at;
    made->text = parts.front()->text;
    if (of)
        made->parts.push_back(std::move(of));
    std::move(parts.begin() + 1, parts.end(), std::back_inserter(made->parts));
    return measured(std::move(made));
}

Result<CelNodePtr> CelParser::call(Kind kind, std::string name,
                                   std::vector<CelNodePtr> parts,
                                   std::size_t at)
{
    bool method = kind == Kind::method;
    if (!method && name == "has")
        return has(std::move(parts), at);
    std::size_t expected = cel_arguments(name, method);
    if (expected == 0)
        return fail_cel(
            std::format("{}() is not supported", name.substr(0, 40)), at);
    if (parts.size() != expected)
        return fail_cel(
            std::format("{}() with {} arguments", name, parts.size() - method),
            at);
    auto made = std::make_unique<CelNode>();
    made->kind = kind;
    made->at = at;
    made->parts = std::move(parts);
    if (name == "matches" && made->parts[1]->kind == Kind::literal) {
        auto regex = pattern_of(*made->parts[1]);
        if (!regex)
            return fail_cel(regex.error().message, made->parts[1]->at);
        made->pattern = std::move(*regex);
    }
    made->text = std::move(name);
    return measured(std::move(made));
}

Result<CelNodePtr> CelParser::has(std::vector<CelNodePtr> parts, std::size_t at)
{
    if (parts.size() != 1 || parts.front()->kind != Kind::select ||
        parts.front()->optional)
        return fail_cel("has() with an argument other than a.b", at);
    parts.front()->kind = Kind::has;
    return std::move(parts.front());
}

Result<CelNodePtr> CelParser::primary()
{
    const CelToken &token = now();
    switch (token.kind) {
    case CelToken::Kind::name:
        return named();
    case CelToken::Kind::integer:
        return integer();
    case CelToken::Kind::real:
        return real();
    case CelToken::Kind::string:
        at_++;
        return literal({token.text}, token.at);
    default:
        break;
    }
    if (take("(")) {
        auto made = expression();
        if (made && !take(")"))
            return unexpected_token();
        return made;
    }
    if (take("["))
        return list();
    return unexpected_token();
}

Result<CelNodePtr> CelParser::list()
{
    std::size_t at = now().at;
    auto parts = arguments("]");
    if (!parts)
        return std::unexpected(parts.error());
    auto made = std::make_unique<CelNode>();
    made->kind = Kind::list;
    made->at = at;
    made->parts = std::move(*parts);
    return measured(std::move(made));
}

Result<CelNodePtr> CelParser::named()
{
    const CelToken &token = now();
    at_++;
    if (token.text == "true" || token.text == "false")
        return literal({token.text == "true"}, token.at);
    if (token.text == "null" || token.text == "in" ||
        std::ranges::contains(reserved, token.text))
        return fail_cel(std::format("'{}' is not supported", token.text),
                        token.at);
    if (take("(")) {
        auto parts = arguments(")");
        if (!parts)
            return std::unexpected(parts.error());
        return call(Kind::call, token.text, std::move(*parts), token.at);
    }
    auto made = make(Kind::name, token.at);
    if (made)
        (*made)->text = token.text;
    return made;
}

Result<CelNodePtr> CelParser::literal(CelValue value, std::size_t at)
{
    auto made = make(Kind::literal, at);
    if (made)
        (*made)->value = std::move(value);
    return made;
}

bool CelParser::negative() const
{
    return at_ != 0 && signed_ == at_;
}

Result<CelNodePtr> CelParser::integer()
{
    const CelToken &token = now();
    std::string digits = token.text;
    bool hex = digits.starts_with("0x");
    if (hex)
        digits.erase(0, 2);
    if (negative())
        digits.insert(0, "-");
    std::int64_t value = 0;
    const char *last = digits.data() + digits.size();
    auto [end, error] =
        std::from_chars(digits.data(), last, value, hex ? 16 : 10);
    if (error != std::errc() || end != last)
        return fail_cel("a number that is too large", token.at);
    at_++;
    return literal({value}, token.at);
}

Result<CelNodePtr> CelParser::real()
{
    const CelToken &token = now();
    double value = 0;
    const char *last = token.text.data() + token.text.size();
    auto [end, error] = std::from_chars(token.text.data(), last, value);
    if (error != std::errc() || end != last)
        return fail_cel("a number that is too large", token.at);
    if (negative())
        value = -value;
    at_++;
    return literal({value}, token.at);
}

} // namespace bridge
