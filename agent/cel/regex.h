// SPDX-License-Identifier: GPL-2.0-or-later
// Regular expressions for CEL's matches(), whose syntax is RE2's
// (https://github.com/google/re2/wiki/Syntax). Users write them: matching takes
// time linear in the text, whatever the pattern, and size and memory of an
// expression are bounded. Pure; an expression may be used by many threads.
#pragma once

#include "common/base/result.h"

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

namespace re2 {
class RE2;
}

namespace bridge {

class Regex {
  public:
    // Returns Code::rejected if it is no regular expression, or too large a
    // one, with a message that says why.
    static Result<Regex> compile(std::string_view pattern);

    // The size of the largest expression, in instructions of RE2.
    static constexpr std::size_t max_steps = 2000;

    // Returns true if the expression matches anywhere in the text, which should
    // be UTF-8: no expression matches a byte that belongs to no character.
    bool matches(std::string_view text) const;

    // The cost of matches() in units of CelBudget: about steps × characters.
    std::size_t cost(std::string_view text) const
    {
        return steps_ * (text.size() + 1);
    }

  private:
    Regex(std::shared_ptr<const re2::RE2> program, std::size_t steps)
        : program_(std::move(program)), steps_(steps)
    {
    }

    std::shared_ptr<const re2::RE2> program_;
    std::size_t steps_;
};

} // namespace bridge
