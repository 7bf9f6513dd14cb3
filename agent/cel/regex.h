// SPDX-License-Identifier: GPL-2.0-or-later
// Regular expressions for CEL's matches(). Users write them, so matching takes
// time linear in the text, whatever the pattern; std::regex and POSIX regex
// backtrack and can be made to run forever. The supported syntax is the part of
// RE2's that is listed below. Pure; a compiled expression may be used by many
// threads.
//
//     literals  .  [a-z]  [^\d_]  [[:alpha:]]  \d \D \s \S \w \W \b \B
//     \n \t \r \f \v \a \x41 \x{1F600} \\ and any escaped punctuation
//     ^ $ \A \z  ab  a|b  (a) (?:a) (?P<name>a)  (?i) (?s) (?i:a)
//     a* a+ a? a{2} a{2,} a{2,5}, each optionally followed by ?
#pragma once

#include "common/base/result.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

using CharRange = std::pair<char32_t, char32_t>; // both ends included

struct RegexStep {
    enum class Kind { ranges, split, jump, assert_that, match };
    enum class Assertion { text_start, text_end, word_edge, no_word_edge };

    Kind kind = Kind::match;
    Assertion assertion = Assertion::text_start;
    std::uint32_t next = 0;
    std::uint32_t other = 0;         // the alternative of a split
    std::vector<CharRange> ranges{}; // sorted, not overlapping
};

class Regex {
  public:
    // Returns Code::rejected with a message that names what is not supported
    // and at which byte.
    static Result<Regex> compile(std::string_view pattern);

    static constexpr std::size_t max_steps = 2000;

    // Returns true if the expression matches anywhere in the text.
    bool matches(std::string_view text) const;

    // The cost of matches() in units of CelBudget: about steps × characters.
    std::size_t cost(std::string_view text) const
    {
        return steps_.size() * (text.size() + 1);
    }

  private:
    std::vector<RegexStep> steps_;
};

} // namespace bridge
