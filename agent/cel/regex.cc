// SPDX-License-Identifier: GPL-2.0-or-later
// Compiles a pattern into a program and runs it: follows all ways through the
// program at once, one character at a time.
#include "agent/cel/regex.h"

#include "agent/cel/regex_parser.h"
#include "agent/cel/regex_scan.h"

#include <algorithm>

namespace bridge {

namespace {

using Kind = RegexStep::Kind;
using Assertion = RegexStep::Assertion;

class Compiler {
  public:
    explicit Compiler(std::vector<RegexStep> &steps) : steps_(steps) {}

    // Returns false if the program would become too large.
    bool add(const RegexNode &node)
    {
        if (++visits_ > 4 * Regex::max_steps ||
            steps_.size() >= Regex::max_steps)
            return false;
        switch (node.kind) {
        case RegexNode::Kind::ranges:
            steps_[push(Kind::ranges)].ranges = node.ranges;
            return true;
        case RegexNode::Kind::assertion:
            steps_[push(Kind::assert_that)].assertion = node.assertion;
            return true;
        case RegexNode::Kind::sequence:
            return std::ranges::all_of(
                node.parts, [&](const auto &part) { return add(*part); });
        case RegexNode::Kind::choice:
            return add_choice(node);
        case RegexNode::Kind::repeat:
            return add_repeat(node);
        }
        return false;
    }

    std::uint32_t push(Kind kind)
    {
        RegexStep step;
        step.kind = kind;
        step.next = here() + 1;
        steps_.push_back(std::move(step));
        return here() - 1;
    }

  private:
    std::uint32_t here() const
    {
        return static_cast<std::uint32_t>(steps_.size());
    }

    bool add_choice(const RegexNode &node)
    {
        std::vector<std::uint32_t> ends;
        for (const RegexNodePtr &part : node.parts) {
            if (&part == &node.parts.back()) {
                if (!add(*part))
                    return false;
                break;
            }
            std::uint32_t split = push(Kind::split);
            if (!add(*part))
                return false;
            ends.push_back(push(Kind::jump));
            steps_[split].other = here();
        }
        for (std::uint32_t end : ends)
            steps_[end].next = here();
        return true;
    }

    bool add_repeat(const RegexNode &node)
    {
        const RegexNode &part = *node.parts.front();
        for (int i = 0; i < node.least; i++)
            if (!add(part))
                return false;
        if (node.most < 0) {
            std::uint32_t split = push(Kind::split);
            if (!add(part))
                return false;
            steps_[push(Kind::jump)].next = split;
            steps_[split].other = here();
            return true;
        }
        std::vector<std::uint32_t> splits;
        for (int i = node.least; i < node.most; i++) {
            splits.push_back(push(Kind::split));
            if (!add(part))
                return false;
        }
        for (std::uint32_t split : splits)
            steps_[split].other = here();
        return true;
    }

    std::vector<RegexStep> &steps_;
    std::size_t visits_ = 0; // empty parts repeated make no steps
};

bool is_word(char32_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '_';
}

bool in_ranges(const std::vector<CharRange> &ranges, char32_t c)
{
    auto after = std::ranges::upper_bound(ranges, c, {}, &CharRange::first);
    return after != ranges.begin() && c <= std::prev(after)->second;
}

constexpr char32_t no_character = 0xffffffff;

bool holds(Assertion assertion, char32_t before, char32_t behind)
{
    switch (assertion) {
    case Assertion::text_start:
        return before == no_character;
    case Assertion::text_end:
        return behind == no_character;
    case Assertion::word_edge:
        return is_word(before) != is_word(behind);
    case Assertion::no_word_edge:
        return is_word(before) == is_word(behind);
    }
    return false;
}

// The steps that a run has reached before the next character.
class Front {
  public:
    explicit Front(const std::vector<RegexStep> &steps)
        : steps_(steps), reached_(steps.size())
    {
    }

    // Adds all steps that can be reached without reading a character. Returns
    // true if the end of the program is one of them.
    bool reach(std::uint32_t from, char32_t before, char32_t behind)
    {
        todo_.assign(1, from);
        while (!todo_.empty()) {
            std::uint32_t at = todo_.back();
            todo_.pop_back();
            if (reached_[at])
                continue;
            reached_[at] = true;
            const RegexStep &step = steps_[at];
            if (step.kind == Kind::match)
                return true;
            if (step.kind == Kind::ranges) {
                waiting.push_back(at);
                continue;
            }
            if (step.kind == Kind::assert_that &&
                !holds(step.assertion, before, behind))
                continue;
            todo_.push_back(step.next);
            if (step.kind == Kind::split)
                todo_.push_back(step.other);
        }
        return false;
    }

    void clear()
    {
        waiting.clear();
        reached_.assign(reached_.size(), false);
    }

    std::vector<std::uint32_t> waiting; // for a character

  private:
    const std::vector<RegexStep> &steps_;
    std::vector<bool> reached_;
    std::vector<std::uint32_t> todo_;
};

} // namespace

Result<Regex> Regex::compile(std::string_view pattern)
{
    auto tree = parse_regex(pattern);
    if (!tree)
        return std::unexpected(tree.error());
    Regex regex;
    Compiler compiler(regex.steps_);
    if (!compiler.add(**tree))
        return fail(Code::rejected, "regular expression: it is too large");
    compiler.push(Kind::match);
    return regex;
}

bool Regex::matches(std::string_view text) const
{
    Front one(steps_);
    Front another(steps_);
    Front *now = &one;
    Front *then = &another;
    char32_t before = no_character;
    std::string_view rest = text;
    char32_t behind = rest.empty() ? no_character : next_character(rest);
    while (true) {
        if (now->reach(0, before, behind))
            return true;
        if (behind == no_character)
            return false;
        char32_t c = behind;
        behind = rest.empty() ? no_character : next_character(rest);
        then->clear();
        for (std::uint32_t at : now->waiting)
            if (in_ranges(steps_[at].ranges, c) &&
                then->reach(steps_[at].next, c, behind))
                return true;
        std::swap(now, then);
        before = c;
    }
}

} // namespace bridge
