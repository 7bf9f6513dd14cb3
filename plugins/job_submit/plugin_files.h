// SPDX-License-Identifier: GPL-2.0-or-later
// The files of job_submit's hooks inside slurmctld.
#pragma once

#include "plugins/job_submit/hook_files.h"

namespace bridge {

// Begins when it is first called, which is not under slurmctld's locks: init()
// does that. If the thread cannot be started, nothing is ever written.
HookFiles &plugin_files();

} // namespace bridge
