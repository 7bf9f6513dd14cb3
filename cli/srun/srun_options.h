// SPDX-License-Identifier: GPL-2.0-or-later
// What a user asked srun for: on the command line, and by those of srun's
// variables that sbatch or the user set. Pure.
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

// Null when there is no such variable.
const char *find_variable(const Environment &environment,
                          std::string_view name);

// 0 or empty when there is none.
std::uint32_t number_of(const Environment &environment, std::string_view name);
std::string text_of(const Environment &environment, std::string_view name);

struct SrunOptions {
    StepRequest request;
    std::string directory;               // -D; empty: where srun is
    std::string input, output;           // -i, -o; empty: not said
    std::string error;                   // -e; empty: as output
    std::optional<std::string> exported; // --export
    std::string job_name;                // -J
    std::uint32_t wait = 0;              // -W, seconds; 0: for ever
    int verbose = 0;
    std::optional<std::uint32_t> het_group; // --het-group
    std::uint32_t first_rank = 0; // of that component: see het_group.h
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

// arguments: without the program's own name. Code::rejected, in words for the
// user, for what does not exist, is no value or cannot be had in Pods.
Result<SrunOptions> parse_srun(std::span<const char *const> arguments,
                               const Environment &environment);

extern const char *const srun_help;

} // namespace bridge
