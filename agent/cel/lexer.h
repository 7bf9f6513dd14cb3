// SPDX-License-Identifier: GPL-2.0-or-later
// The tokens of a CEL expression.
#pragma once

#include "common/base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct CelToken {
    enum class Kind { end, name, integer, real, string, symbol };

    Kind kind = Kind::end;
    std::size_t at = 0; // byte in the expression
    std::string text{}; // of a name, symbol or number; a string's value
};

// Code::rejected for "what at byte N"; at counts from 0, the sentence from 1.
std::unexpected<Error> refuse_cel(std::string_view what, std::size_t at);

// The last one is Kind::end.
Result<std::vector<CelToken>> cel_tokens(std::string_view text);

} // namespace bridge
