// SPDX-License-Identifier: GPL-2.0-or-later
// The text of a regular expression, and what in it stands for characters.
#pragma once

#include "agent/cel/regex_class.h"
#include "common/base/result.h"

#include <optional>
#include <string_view>

namespace bridge {

// The character that text starts with, moving text behind it. A byte that is
// no UTF-8 counts as U+FFFD, as in Go. The text must not be empty.
char32_t next_character(std::string_view &text);

class RegexScanner {
  public:
    explicit RegexScanner(std::string_view pattern)
        : pattern_(pattern), rest_(pattern)
    {
    }

    std::string_view rest() const { return rest_; }
    void back_to(std::string_view rest) { rest_ = rest; }
    void skip(std::size_t bytes) { rest_.remove_prefix(bytes); }
    bool take(std::string_view token);
    char32_t next() { return next_character(rest_); }

    // Code::rejected, with where we are.
    std::unexpected<Error> refuse(std::string_view what) const;

    // What is behind '[', with its ']'.
    Result<CharSet> bracket(bool fold);
    // \d and the like, behind the backslash; nothing for other escapes.
    std::optional<CharSet> class_escape(bool fold);
    // \n and the like, behind the backslash.
    Result<char32_t> escaped_character();
    Result<CharSet> range(char32_t first, char32_t last, bool fold) const;

  private:
    Result<CharSet> bracket_item(bool fold);
    Result<char32_t> bracket_character();
    Result<CharSet> named_class(bool fold);
    Result<char32_t> hexadecimal();

    std::string_view pattern_;
    std::string_view rest_;
};

} // namespace bridge
