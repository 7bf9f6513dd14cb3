// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the text of a regular expression, and the parts of it that stand for
// characters. Pure.
#pragma once

#include "agent/cel/regex_class.h"
#include "common/base/result.h"

#include <optional>
#include <string_view>

namespace bridge {

// Returns the first character of text and removes it from text. A byte that is
// not valid UTF-8 counts as U+FFFD, as in Go. The text must not be empty.
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

    // Returns Code::rejected with a message that names the current byte.
    std::unexpected<Error> refuse(std::string_view what) const;

    // Reads a bracket expression after its '[', up to and including its ']'.
    Result<CharSet> bracket(bool fold);
    // Reads a class such as \d after its backslash. Returns nothing, and reads
    // nothing, for other escapes.
    std::optional<CharSet> class_escape(bool fold);
    // Reads an escaped character such as \n after its backslash.
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
