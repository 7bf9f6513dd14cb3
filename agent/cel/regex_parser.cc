// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/cel/regex_parser.h"

#include "agent/cel/regex_class.h"
#include "agent/cel/regex_scan.h"
#include "common/base/ascii.h"

#include <charconv>
#include <utility>

namespace bridge {

namespace {

constexpr int max_depth = 50;
constexpr int max_repeat = 1000;

struct Flags {
    bool fold = false;    // (?i)
    bool newline = false; // (?s): "." takes it
};

bool is_word(char c)
{
    return is_letter_or_digit(c) || c == '_';
}

RegexNodePtr node_of(RegexNode::Kind kind)
{
    auto node = std::make_unique<RegexNode>();
    node->kind = kind;
    return node;
}

class Parser {
  public:
    explicit Parser(std::string_view pattern) : text_(pattern) {}

    Result<RegexNodePtr> parse()
    {
        auto tree = choice(Flags{}, 0);
        if (tree && !text_.rest().empty())
            return text_.refuse("a ')' without its '('");
        return tree;
    }

  private:
    using Node = Result<RegexNodePtr>;

    Node choice(Flags flags, int depth)
    {
        if (depth > max_depth)
            return text_.refuse("brackets that are nested too deeply");
        auto made = node_of(RegexNode::Kind::choice);
        do {
            auto part = sequence(flags, depth);
            if (!part)
                return part;
            made->parts.push_back(std::move(*part));
        } while (text_.take("|"));
        return made;
    }

    // Parses a sequence. A flag such as (?i) in it holds up to the end of the
    // group.
    Node sequence(Flags &flags, int depth)
    {
        auto made = node_of(RegexNode::Kind::sequence);
        while (!text_.rest().empty() && text_.rest().front() != '|' &&
               text_.rest().front() != ')') {
            auto part = atom(flags, depth);
            if (!part)
                return part;
            if (!*part)
                continue; // it was (?i)
            auto repeated = repeat(std::move(*part));
            if (!repeated)
                return repeated;
            made->parts.push_back(std::move(*repeated));
        }
        return made;
    }

    Node repeat(RegexNodePtr part)
    {
        auto bounds = quantifier();
        if (!bounds)
            return std::unexpected(bounds.error());
        if (bounds->first < 0)
            return part;
        text_.take("?"); // the shorter match first: that it matches is the same
        auto another = quantifier();
        if (!another || another->first >= 0)
            return text_.refuse("one repetition directly after another");
        auto made = node_of(RegexNode::Kind::repeat);
        made->least = bounds->first;
        made->most = bounds->second;
        made->parts.push_back(std::move(part));
        return made;
    }

    // Reads a quantifier: least and most repetitions. least is -1 if there is
    // none; most is -1 for any number.
    Result<std::pair<int, int>> quantifier()
    {
        if (text_.take("*"))
            return std::pair{0, -1};
        if (text_.take("+"))
            return std::pair{1, -1};
        if (text_.take("?"))
            return std::pair{0, 1};
        std::string_view before = text_.rest();
        int least = 0;
        int most = 0;
        if (!text_.take("{") || !number(least))
            return no_quantifier(before);
        if (!text_.take(","))
            most = least;
        else if (text_.rest().starts_with("}"))
            most = -1;
        else if (!number(most))
            return no_quantifier(before);
        if (!text_.take("}"))
            return no_quantifier(before);
        if (least > max_repeat || most > max_repeat ||
            (most >= 0 && most < least))
            return text_.refuse("a bad number of repetitions");
        return std::pair{least, most};
    }

    // Goes back: a "{" that does not begin a quantifier is a plain character.
    std::pair<int, int> no_quantifier(std::string_view before)
    {
        text_.back_to(before);
        return {-1, -1};
    }

    bool number(int &into)
    {
        std::size_t digits = 0;
        std::string_view rest = text_.rest();
        while (digits < rest.size() && is_digit(rest[digits]))
            digits++;
        auto [end, error] =
            std::from_chars(rest.data(), rest.data() + digits, into);
        if (digits == 0)
            return false;
        if (error != std::errc())
            into = max_repeat + 1;
        text_.skip(digits);
        return true;
    }

    Node atom(Flags &flags, int depth)
    {
        if (text_.take("("))
            return group(flags, depth);
        if (text_.take("[")) {
            auto set = text_.bracket(flags.fold);
            if (!set)
                return std::unexpected(set.error());
            return of_set(std::move(*set));
        }
        if (text_.take("."))
            return of_set(flags.newline ? negated({})
                                        : negated({{'\n', '\n'}}));
        if (text_.take("^"))
            return of_assertion(RegexStep::Assertion::text_start);
        if (text_.take("$"))
            return of_assertion(RegexStep::Assertion::text_end);
        if (text_.rest().front() == '*' || text_.rest().front() == '+' ||
            text_.rest().front() == '?')
            return text_.refuse("a repetition of nothing");
        if (text_.take("\\"))
            return escape(flags);
        return literal(text_.next(), flags);
    }

    Node of_set(CharSet set)
    {
        auto made = node_of(RegexNode::Kind::ranges);
        made->ranges = std::move(set);
        return made;
    }

    Node of_assertion(RegexStep::Assertion assertion)
    {
        auto made = node_of(RegexNode::Kind::assertion);
        made->assertion = assertion;
        return made;
    }

    Node literal(char32_t c, Flags flags)
    {
        auto set = text_.range(c, c, flags.fold);
        if (!set)
            return std::unexpected(set.error());
        return of_set(std::move(*set));
    }

    // Parses a group. Returns null if it only sets flags for the rest of the
    // enclosing group.
    Node group(Flags &flags, int depth)
    {
        Flags inside = flags;
        if (text_.take("?P<") || text_.take("?<")) {
            std::string_view rest = text_.rest();
            std::size_t end = 0;
            while (end < rest.size() && is_word(rest[end]))
                end++;
            if (end == 0 || !rest.substr(end).starts_with('>'))
                return text_.refuse("a group with a bad name");
            text_.skip(end + 1);
        } else if (text_.take("?")) {
            if (!read_flags(inside))
                return text_.refuse("a group that is not supported");
            if (text_.take(")")) {
                flags = inside;
                return RegexNodePtr();
            }
            text_.take(":");
        }
        auto made = choice(inside, depth + 1);
        if (made && !text_.take(")"))
            return text_.refuse("a '(' without its ')'");
        return made;
    }

    // Reads flags up to ':' or ')', which is not read.
    bool read_flags(Flags &flags)
    {
        bool on = true;
        for (; !text_.rest().empty(); text_.skip(1)) {
            char c = text_.rest().front();
            if (c == ':' || c == ')')
                return true;
            if (c == 'i')
                flags.fold = on;
            else if (c == 's')
                flags.newline = on;
            else if (c == '-' && on)
                on = false;
            else
                return false;
        }
        return false;
    }

    Node escape(Flags flags)
    {
        if (text_.take("A"))
            return of_assertion(RegexStep::Assertion::text_start);
        if (text_.take("z"))
            return of_assertion(RegexStep::Assertion::text_end);
        if (text_.take("b"))
            return of_assertion(RegexStep::Assertion::word_edge);
        if (text_.take("B"))
            return of_assertion(RegexStep::Assertion::no_word_edge);
        if (auto set = text_.class_escape(flags.fold))
            return of_set(std::move(*set));
        auto c = text_.escaped_character();
        if (!c)
            return std::unexpected(c.error());
        return literal(*c, flags);
    }

    RegexScanner text_;
};

} // namespace

Result<RegexNodePtr> parse_regex(std::string_view pattern)
{
    return Parser(pattern).parse();
}

} // namespace bridge
