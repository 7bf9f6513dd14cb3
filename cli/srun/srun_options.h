// SPDX-License-Identifier: GPL-2.0-or-later
// What a user requests from srun: on the command line, and by the variables of
// srun that sbatch or the user set. Pure functions.
#pragma once

#include "cli/srun/step_plan.h"
#include "common/base/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// The environment as a value: NAME=VALUE, in main()'s order.
using Environment = std::vector<std::string>;

// Returns null when there is no such variable.
const char *find_variable(const Environment &environment,
                          std::string_view name);

// Return 0 or "" when there is no such variable.
std::uint32_t number_of(const Environment &environment, std::string_view name);
std::string text_of(const Environment &environment, std::string_view name);

struct SrunOptions {
    StepRequest request;
    std::string directory;               // -D; empty: srun's own directory
    std::string input, output;           // -i, -o; empty: not given
    std::string error;                   // -e; empty: same as output
    std::optional<std::string> exported; // --export
    std::string job_name;                // -J
    std::uint32_t wait = 0;              // -W, seconds; 0: without limit
    int verbose = 0;
    std::optional<std::uint32_t> het_group; // --het-group
    std::uint32_t first_rank = 0; // first rank of that component: het_group.h
    bool append = false;          // --open-mode
    bool label = false;
    bool unbuffered = false;
    bool kill_on_bad_exit = false;
    bool no_kill = false;
    bool preserve_env = false;
    bool quiet = false;
    bool disable_status = false;
    bool quit_on_interrupt = false;
    bool help = false;
    bool version = false;
    std::vector<std::string> command;
};

// arguments do not include the program's own name. Code::rejected, with a
// message for the user, for unknown options, invalid values, and options that
// are not possible in Pods.
Result<SrunOptions> parse_srun(std::span<const char *const> arguments,
                               const Environment &environment);

extern const char *const srun_help;

} // namespace bridge
