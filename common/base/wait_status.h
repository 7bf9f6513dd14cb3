// SPDX-License-Identifier: GPL-2.0-or-later
// How a process ended, as returned by wait(2). Slurm stores the end of a job in
// this form.
#pragma once

namespace bridge {

inline constexpr int exit_1 = 1 << 8; // it called exit(1)

} // namespace bridge
