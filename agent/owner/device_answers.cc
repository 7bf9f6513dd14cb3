// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/device_answers.h"

#include "agent/decide/messages.h"

#include <utility>

namespace bridge {

namespace {

constexpr std::size_t cost_of_lookup = 10; // as steps

} // namespace

GresMemo::Asker DeviceAnswers::turn_to_now(const Gang &gang, CelBudget &budget)
{
    memo_.turn_to(devices_.catalog());
    budget.spend(cost_of_lookup);
    return {gang.key.ns, gang.uid};
}

Result<GresWish> DeviceAnswers::gres_for(const Gang &gang,
                                         const DeviceRequest &request,
                                         CelBudget &budget)
{
    auto wish = memo_.wish_for(request, turn_to_now(gang, budget));
    if (wish)
        return std::move(*wish);
    return std::unexpected(wait_for(gang));
}

Result<std::shared_ptr<const FitCounts>>
DeviceAnswers::counts_for(const Gang &gang, const DeviceRequest &request,
                          CelBudget &budget)
{
    auto counts = memo_.counts_for(request, turn_to_now(gang, budget));
    if (counts)
        return counts;
    return std::unexpected(wait_for(gang));
}

Error DeviceAnswers::wait_for(const Gang &gang)
{
    answer_next();
    bool over = memo_.waits_for_share(gang.key.ns, context_.now);
    return {Code::busy, over ? device_share_message(gang.key.ns)
                             : devices_uncompared_message()};
}

// If the catalog changes meanwhile, the gangs that have asked ask again.
void DeviceAnswers::answer_next()
{
    auto catalog = devices_.catalog();
    memo_.turn_to(catalog);
    auto question = memo_.next(context_.now);
    if (!question)
        return;
    errands_.ask(
        [catalog, question = std::move(*question),
         evaluator = evaluator_](Slurm &) -> Result<GresMemo::Answer> {
            return evaluator->answer(catalog, question);
        },
        [this](Result<GresMemo::Answer> &answer) {
            std::optional<GresMemo::Answer> made;
            if (answer)
                made = std::move(*answer);
            agenda_.wake(memo_.take(std::move(made), context_.now));
            answer_next();
        });
}

} // namespace bridge
