// SPDX-License-Identifier: GPL-2.0-or-later
// The subcommands for users, whose options follow the name of the subcommand:
// logs, attach and salloc.
#pragma once

#include <string>

namespace bridge {

bool is_user_command(const std::string &name);

// argv begins with the name of the subcommand. Returns the exit status.
int run_user_command(const std::string &conf_path, int argc, char **argv);

} // namespace bridge
