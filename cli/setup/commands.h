// SPDX-License-Identifier: GPL-2.0-or-later
// slurmk8s setup and slurmk8s uninstall.
#pragma once

#include <string>
#include <string_view>

namespace bridge {

bool is_setup_command(std::string_view word);

// argv[0] is the command. conf_path: what stood before it, or "". Returns the
// exit status.
int run_setup_command(const std::string &conf_path, int argc, char **argv);

// Both fail with what the administrator has to do; what was done stays, and the
// next run goes on from there.
struct SetupOptions;
int setup(const SetupOptions &options);
int uninstall(const SetupOptions &options);

} // namespace bridge
