// SPDX-License-Identifier: GPL-2.0-or-later
// How long containers get from TERM to KILL when their job has ended, by
// slurm.conf and k8s.conf, and which Pods take longer than that. Owner thread
// only.
#pragma once

#include "agent/owner/agenda.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"

namespace bridge {

class GraceLimits {
  public:
    GraceLimits(Context &context, const Errands &errands, Agenda &agenda)
        : context_(context), errands_(errands), agenda_(agenda)
    {
    }

    // slurm.conf may have changed.
    void doubt() { due_ = context_.now; }
    // When slurmctld is to be asked again; never while it is being asked.
    Clock::time_point due() const;
    void request(); // answered by GraceTimesLoaded
    // Returns whether the times have changed, or are known for the first time.
    bool take(GraceTimesLoaded &loaded);
    bool known() const { return known_; }

    // What decide() must know of these times. The gang is woken when its Pods
    // should have ended.
    GraceFacts facts(GangEntry &entry);

    // The longest grace period that a Pod may have and still get a job.
    std::chrono::seconds allowed() const;

  private:
    std::chrono::seconds most(const Gang &gang) const;
    std::chrono::seconds usual() const;

    Context &context_;
    const Errands &errands_;
    Agenda &agenda_;
    GraceTimes times_;
    bool known_ = false;
    bool loading_ = false;
    Clock::time_point due_{};
};

} // namespace bridge
