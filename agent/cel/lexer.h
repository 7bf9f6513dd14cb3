// SPDX-License-Identifier: GPL-2.0-or-later
// Splits a CEL expression into tokens. Pure.
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
    std::string text{}; // a name, symbol or number, or the value of a string
};

// Returns Code::rejected with the message "CEL: WHAT at byte N". at counts from
// 0, the message from 1.
std::unexpected<Error> fail_cel(std::string_view what, std::size_t at);

// Returns the tokens; the last one is Kind::end. Code::rejected if the text is
// not valid.
Result<std::vector<CelToken>> cel_tokens(std::string_view text);

} // namespace bridge
