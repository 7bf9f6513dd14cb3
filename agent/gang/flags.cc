// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/flags.h"

#include "common/base/log.h"

#include <string>

namespace bridge {

void doubt_job(Gang &gang, std::string_view why)
{
    if (!gang.job)
        return;
    if (!gang.stale)
        log_debug("a job is to be read again", {{"JobId", gang.job->ref.id},
                                                {"Gang", gang.key.str()},
                                                {"why", std::string(why)}});
    gang.stale = true;
}

void give_up_binding(Gang &gang, std::string_view why)
{
    if (!gang.bind_overdue)
        log_debug("Pods cannot be bound in time",
                  {{"Gang", gang.key.str()}, {"why", std::string(why)}});
    gang.bind_overdue = true;
}

void doubt_submit(GangEntry &entry, Clock::time_point now)
{
    entry.gang.submit_uncertain = true;
    entry.uncertain_since = now;
}

void settle_submit(GangEntry &entry)
{
    entry.gang.submit_uncertain = false;
    entry.uncertain_since.reset();
}

} // namespace bridge
