// SPDX-License-Identifier: GPL-2.0-or-later
// A regular expression as a tree, which regex.cc makes a program of.
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
    std::vector<CharRange> ranges{}; // in order, not overlapping
    RegexStep::Assertion assertion = RegexStep::Assertion::text_start;
    std::vector<RegexNodePtr> parts{}; // one for a repeat
    int least = 0;
    int most = 0; // -1: any number
};

Result<RegexNodePtr> parse_regex(std::string_view pattern);

} // namespace bridge
