// SPDX-License-Identifier: GPL-2.0-or-later
// What --signal=B:SIG@TIME asks for: the batch script gets a signal some time
// before its job's end. slurmctld would have slurmd send it; here the launcher
// does. When the job ends is an annotation of its Pod, which the agent sets
// right when the time limit has changed, and which a kubelet shows in a file.
// Pure.
#pragma once

#include "common/contract/batch_script.h"

#include <chrono>
#include <string>

namespace bridge {

// The job's Pod needs that file.
inline bool has_warning(const BatchScript &script)
{
    return script.signal != 0;
}

// Of the annotation: whole seconds since the epoch.
std::string ends_text(std::chrono::sys_seconds ends);

// A part of the launcher: warn, a function of the shell that looks after the
// process of that id in the background, as nobody's child. Where nothing was
// asked for it does nothing. The image must have date and sleep.
std::string warn_function(const BatchScript &script);

} // namespace bridge
