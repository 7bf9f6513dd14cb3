// SPDX-License-Identifier: GPL-2.0-or-later
// What the workers that make the Pods of batch jobs remember from one job to
// the next. Thread-safe: it is all that workers see of the owner thread's
// objects.
#pragma once

#include "agent/batch/make.h"
#include "agent/batch/srun_maps.h"

namespace bridge {

struct BatchCaches {
    TakenPod taken;
    SrunMaps srun_maps;
    ScriptSweep sweep;
};

} // namespace bridge
