// SPDX-License-Identifier: GPL-2.0-or-later
// The values of srun's options. All functions return false for an invalid
// value. Pure functions.
#pragma once

#include "cli/srun/step_plan.h"

#include <cstdint>
#include <string_view>

namespace bridge {

// Compares without regard to case.
bool same_word(std::string_view a, std::string_view b);

// Reads block, cyclic or plane=4. A part behind that concerns CPUs; it is
// accepted only in sbatch's variable, where it may occur.
bool read_distribution(std::string_view value, bool from_environment,
                       StepRequest &request);

// Reads 3, or 2-4.
bool read_nodes(std::string_view value, bool from_environment,
                StepRequest &request);

bool read_number(std::string_view value, std::uint32_t least,
                 std::uint32_t &number);

// A variable for a flag may also say no.
bool read_flag(std::string_view value, bool &flag);

bool read_open_mode(std::string_view value, bool &append);

// Returns whether the value means no binding, in any of srun's words for it.
bool is_no_binding(std::string_view value);

} // namespace bridge
