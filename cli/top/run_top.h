// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

namespace bridge {

// Carries out "slurmk8s top", with the options behind it, and returns the exit
// status. argv[0] is "top".
int run_top(const std::string &conf_path, int argc, char **argv);

} // namespace bridge
