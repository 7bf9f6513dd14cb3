// SPDX-License-Identifier: GPL-2.0-or-later
// The values of srun's options. All say false for what is none. Pure.
#pragma once

#include "cli/srun/step_plan.h"

#include <cstdint>
#include <string_view>

namespace bridge {

// Without regard to case.
bool same_word(std::string_view a, std::string_view b);

// block, cyclic or plane=4. What may follow is about CPUs, and sbatch's
// variable has it as well.
bool read_distribution(std::string_view value, bool from_environment,
                       StepRequest &request);

// 3, or 2-4.
bool read_nodes(std::string_view value, bool from_environment,
                StepRequest &request);

bool read_number(std::string_view value, std::uint32_t least,
                 std::uint32_t &number);

// A variable of that kind may also say no.
bool read_flag(std::string_view value, bool &flag);

bool read_open_mode(std::string_view value, bool &append);

// none, in any of srun's words for it.
bool is_no_binding(std::string_view value);

} // namespace bridge
