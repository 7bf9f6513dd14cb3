// SPDX-License-Identifier: GPL-2.0-or-later
// Which devices fit the requests of claims. Selectors, which users write, are
// evaluated for every device of the cluster, so a worker does that, one request
// at a time; the owner thread only looks up what is known. Owner thread only.
#pragma once

#include "agent/gres/evaluator.h"
#include "agent/gres/memo.h"
#include "agent/gres/needs.h"
#include "agent/gres/plan_results.h"
#include "agent/owner/agenda.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"
#include "agent/owner/known_devices.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

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
    // message_for(), if it is not known yet: the gang is woken when it is. One
    // of the devices of before is noted in the budget; the gang is woken when
    // there is a new one.
    Result<GresWish> gres_for(const Gang &gang, const DeviceRequest &request,
                              ReadBudget &budget);
    Result<std::shared_ptr<const FitCounts>>
    counts_for(const Gang &gang, const DeviceRequest &request,
               ReadBudget &budget);
    // Changes when an answer that was known has become another.
    std::uint64_t version() const { return memo_.version(); }

    // Adds what is known of the selectors of these requests; has them found out
    // for these devices, and the gang woken then. Both return what that cost,
    // in steps.
    std::size_t add_results(const std::vector<DevicesWanted> &wanted,
                            const DeviceClasses &classes, PlanResults &to);
    std::size_t ask_results(const Gang &gang,
                            const std::vector<DevicesWanted> &wanted,
                            const DeviceClasses &classes,
                            const std::set<DevicePtr> &devices);

    // Whether the gang will be woken by an answer.
    bool awaited_by(const Gang &gang) const { return memo_.awaits(gang.uid); }
    // Only answers without which it cannot go on.
    bool misses_any(const Gang &gang) const { return memo_.misses(gang.uid); }
    // Why its Pods wait, for these.
    std::string message_for(const Gang &gang) const;

    // Has the next question answered, if one is due. Once a turn: questions of
    // gangs that ask the same become one.
    void ask_due();
    Clock::time_point due() const { return memo_.due(context_.now); }

  private:
    GresMemo::Asker turn_to_now(const Gang &gang, const DeviceRequest &request,
                                CelBudget &budget);
    template <class Answer, class Known>
    Result<Answer> answer_of(std::optional<Known> known, const Gang &gang,
                             ReadBudget &budget) const;
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
