// SPDX-License-Identifier: GPL-2.0-or-later
// Runs another program and waits for its end. No shell is involved, and the
// program's standard input is never the terminal, so it cannot ask anything.
#pragma once

#include "common/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct ProgramEnd {
    int status = 0; // its exit status; 128 + N if signal N has ended it
    std::string out;
    std::string err;
};

// The first word is the program, looked up in PATH. Code::not_found if it
// cannot be started; its own failure is in ProgramEnd.
Result<ProgramEnd> run_program(std::vector<std::string> words,
                               std::string_view input = {});

} // namespace bridge
