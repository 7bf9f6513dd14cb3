// SPDX-License-Identifier: GPL-2.0-or-later
// Which devices fit the requests of claims. Selectors, which users write, are
// evaluated for every device of the cluster, so a worker does that, one request
// at a time; the owner thread only looks up what is known. Owner thread only.
#pragma once

#include "agent/gres/memo.h"
#include "agent/owner/agenda.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"
#include "agent/owner/known_devices.h"

#include <memory>
#include <string>

namespace bridge {

class DeviceAnswers {
  public:
    DeviceAnswers(const Context &context, const Errands &errands,
                  Agenda &agenda, KnownDevices &devices)
        : context_(context), errands_(errands), agenda_(agenda),
          devices_(devices)
    {
    }

    // As gres_for() and fit_counts(), but for a constant cost. Code::busy, with
    // a sentence for the gang's Pods, if it is not known yet: the gang is woken
    // when it is.
    Result<GresWish> gres_for(const Gang &gang, const DeviceRequest &request,
                              CelBudget &budget);
    Result<std::shared_ptr<const FitCounts>>
    counts_for(const Gang &gang, const DeviceRequest &request,
               CelBudget &budget);

  private:
    GresMemo::Asker turn_to_now(const Gang &gang, CelBudget &budget);
    Error wait_for(const Gang &gang);
    void answer_next();

    const Context &context_;
    const Errands &errands_;
    Agenda &agenda_;
    KnownDevices &devices_;
    GresMemo memo_;
    // Of the question that is being answered.
    std::shared_ptr<GresEvaluator> evaluator_ =
        std::make_shared<GresEvaluator>();
};

} // namespace bridge
