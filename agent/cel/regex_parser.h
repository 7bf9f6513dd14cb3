// SPDX-License-Identifier: GPL-2.0-or-later
// Parses a regular expression into a tree; regex.cc compiles it into a program.
// Pure.
#pragma once

#include "agent/cel/regex.h"

#include <memory>
#include <vector>

namespace bridge {

struct RegexNode;
using RegexNodePtr = std::unique_ptr<RegexNode>;

struct RegexNode {
    enum class Kind { ranges, assertion, sequence, choice, repeat };

    Kind kind = Kind::sequence;
    std::vector<CharRange> ranges{}; // sorted, not overlapping
    RegexStep::Assertion assertion = RegexStep::Assertion::text_start;
    std::vector<RegexNodePtr> parts{}; // exactly one for a repeat
    int least = 0;
    int most = 0; // -1: any number
};

Result<RegexNodePtr> parse_regex(std::string_view pattern);

} // namespace bridge
