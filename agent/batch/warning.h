// SPDX-License-Identifier: GPL-2.0-or-later
// The signal that --signal=B:SIG@TIME requests: the batch script gets it some
// time before the job's end. slurmctld would make slurmd send it; here the
// launcher does. An annotation of the Pod holds the end of the job. The agent
// updates it when the time limit changes, and the kubelet shows it to the
// container in a file. Pure functions.
#pragma once

#include "common/contract/batch_script.h"

#include <chrono>
#include <string>

namespace bridge {

// Returns whether the job's Pod needs that file.
inline bool has_warning(const BatchScript &script)
{
    return script.signal != 0;
}

// Returns the value of the annotation: whole seconds since the epoch.
std::string ends_text(std::chrono::sys_seconds ends);

// Returns a part of the launcher: the shell function warn, which starts a
// background process that sends the signal to the process of the given id. That
// background process is not a child of the shell. The function does nothing
// when no signal was requested. The image must have date and sleep.
std::string warn_function(const BatchScript &script);

} // namespace bridge
