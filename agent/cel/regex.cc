// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/cel/regex.h"

#include <cstdint>
#include <re2/re2.h>

namespace bridge {

namespace {

// Of an expression and of what it remembers of texts. A claim may have
// thousands of them.
constexpr std::int64_t max_memory = 64 * 1024;

re2::RE2::Options options()
{
    re2::RE2::Options options(re2::RE2::Quiet); // errors are values here
    options.set_max_mem(max_memory);
    options.set_never_capture(true); // a group only groups
    return options;
}

// \C is one byte, which may be a part of a character. Go's expressions do not
// have it.
bool has_byte_escape(std::string_view pattern)
{
    for (std::size_t at = 0; (at = pattern.find('\\', at)) != pattern.npos;
         at += 2)
        if (pattern.substr(at + 1).starts_with('C'))
            return true;
    return false;
}

} // namespace

Result<Regex> Regex::compile(std::string_view pattern)
{
    if (has_byte_escape(pattern))
        return fail(Code::rejected,
                    "regular expression: invalid escape sequence: \\C");
    auto program = std::make_shared<const re2::RE2>(pattern, options());
    if (!program->ok())
        return fail(Code::rejected, "regular expression: " + program->error());
    auto steps = static_cast<std::size_t>(program->ProgramSize());
    if (steps > max_steps)
        return fail(Code::rejected, "regular expression: too large");
    return Regex(std::move(program), steps);
}

bool Regex::matches(std::string_view text) const
{
    return re2::RE2::PartialMatch(text, *program_);
}

} // namespace bridge
