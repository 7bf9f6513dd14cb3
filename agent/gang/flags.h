// SPDX-License-Identifier: GPL-2.0-or-later
// The flags of a gang that several parts of the owner thread raise. They do it
// here only, and say why: the reason is in the log, at level debug.
#pragma once

#include "agent/gang/store.h"

#include <string_view>

namespace bridge {

// The gang's job may have changed: it is read again before anything is done. A
// gang without a job has nothing to read.
void doubt_job(Gang &gang, std::string_view why);

// Its Pods cannot be bound in time: their job is given up.
void give_up_binding(Gang &gang, std::string_view why);

// The outcome of a submit is unknown, or is known now.
void doubt_submit(GangEntry &entry, Clock::time_point now);
void settle_submit(GangEntry &entry);

} // namespace bridge
