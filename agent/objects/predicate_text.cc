// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/predicate_text.h"

#include "common/base/ascii.h"

#include <format>

namespace bridge {

namespace {

// Adds a word with unusual characters escaped. Kubernetes allows only label
// keys and values here in most cases, but a volume, or a Pod older than that
// rule, may have others.
void add_word(std::string &text, std::string_view word)
{
    for (char c : word) {
        bool plain = is_letter_or_digit(c) || c == '-' || c == '_' ||
                     c == '.' || c == '/';
        if (plain)
            text += c;
        else
            text += std::format("%{:02X}", static_cast<unsigned char>(c));
    }
}

void add_list(std::string &text, const std::vector<std::string> &values)
{
    text += '(';
    for (const std::string &value : values) {
        if (&value != &values.front())
            text += ',';
        add_word(text, value);
    }
    text += ')';
}

void add_requirement(std::string &text, const NodeRequirement &r)
{
    if (r.op == NodeOperator::does_not_exist)
        text += '!';
    if (r.field)
        text += "field:";
    text += r.key.empty() ? "%" : ""; // which no word is
    add_word(text, r.key);
    bool one = r.values.size() == 1;
    switch (r.op) {
    case NodeOperator::in:
        text += one ? "=" : " in ";
        break;
    case NodeOperator::not_in:
        text += one ? "!=" : " notin ";
        break;
    case NodeOperator::gt:
        text += ">";
        break;
    case NodeOperator::lt:
        text += "<";
        break;
    default:
        return;
    }
    if (one)
        add_word(text, r.values.front());
    else
        add_list(text, r.values);
}

void add_selector(std::string &text, const NodeSelector &selector, bool alone)
{
    if (selector.empty())
        text += "()";
    bool brackets = selector.size() > 1 && !alone;
    text += brackets ? "(" : "";
    for (const NodeTerm &term : selector) {
        text += &term == &selector.front() ? "" : " or ";
        for (const NodeRequirement &requirement : term) {
            text += &requirement == &term.front() ? "" : ",";
            add_requirement(text, requirement);
        }
    }
    text += brackets ? ")" : "";
}

void add_toleration(std::string &text, const Toleration &t)
{
    if (t.key.empty())
        text += '*';
    add_word(text, t.key);
    if (!t.any_value) {
        text += '=';
        add_word(text, t.value);
    }
    if (!t.effect.empty()) {
        text += ':';
        add_word(text, t.effect);
    }
}

} // namespace

std::string predicate_text(const std::vector<NodeSelector> &selectors,
                           const std::vector<Toleration> &tolerations)
{
    std::string text;
    for (const NodeSelector &selector : selectors) {
        text += &selector == &selectors.front() ? "" : " and ";
        add_selector(text, selector, selectors.size() == 1);
    }
    for (const Toleration &toleration : tolerations) {
        if (&toleration == &tolerations.front())
            text += text.empty() ? "tolerating " : "; tolerating ";
        else
            text += ", ";
        add_toleration(text, toleration);
    }
    return text;
}

} // namespace bridge
