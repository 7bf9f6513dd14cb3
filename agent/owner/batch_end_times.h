// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps the end of batch jobs up to date on their Pods, for jobs that want a
// signal before their end. Slurm does not announce a changed time limit, so it
// is polled. Owner thread only.
#pragma once

#include "agent/owner/agenda.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"

#include <map>
#include <string>

namespace bridge {

class BatchEndTimes {
  public:
    BatchEndTimes(const Context &context, const Errands &errands,
                  Agenda &agenda)
        : context_(context), errands_(errands), agenda_(agenda)
    {
    }

    // For a gang of a batch job that has Pods.
    void update(GangEntry &entry);
    void forget(const std::string &gang) { due_.erase(gang); }

  private:
    const Context &context_;
    const Errands &errands_;
    Agenda &agenda_;
    std::map<std::string, Clock::time_point> due_; // by gang uid
};

} // namespace bridge
