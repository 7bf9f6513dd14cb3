// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/device_answers.h"

#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "common/base/log.h"

#include <utility>

namespace bridge {

namespace {

// As steps: a request's key is made of the digests of its selectors.
constexpr std::size_t cost_of_lookup = 60;
constexpr std::size_t cost_of_selector = 5;

std::size_t cost_of(const std::vector<CelSelector> &selectors)
{
    return cost_of_lookup + selectors.size() * cost_of_selector;
}

GresMemo::Asker asker_of(const Gang &gang)
{
    return {gang.key.ns, gang.uid, is_placed(gang)};
}

} // namespace

GresMemo::Asker DeviceAnswers::turn_to_now(const Gang &gang,
                                           const DeviceRequest &request,
                                           CelBudget &budget)
{
    memo_.turn_to(devices_.catalog());
    budget.spend(cost_of(request.selectors));
    return asker_of(gang);
}

template <class Answer, class Known>
Result<Answer> DeviceAnswers::answer_of(std::optional<Known> known,
                                        const Gang &gang,
                                        ReadBudget &budget) const
{
    if (!known)
        return fail(Code::busy, message_for(gang));
    budget.outdated |= known->outdated;
    return std::move(known->answer);
}

Result<GresWish> DeviceAnswers::gres_for(const Gang &gang,
                                         const DeviceRequest &request,
                                         ReadBudget &budget)
{
    return answer_of<GresWish>(
        memo_.wish_for(request, turn_to_now(gang, request, budget)), gang,
        budget);
}

Result<std::shared_ptr<const FitCounts>>
DeviceAnswers::counts_for(const Gang &gang, const DeviceRequest &request,
                          ReadBudget &budget)
{
    return answer_of<std::shared_ptr<const FitCounts>>(
        memo_.counts_for(request, turn_to_now(gang, request, budget)), gang,
        budget);
}

std::size_t DeviceAnswers::add_results(const std::vector<DevicesWanted> &wanted,
                                       const DeviceClasses &classes,
                                       PlanResults &to)
{
    std::size_t cost = 0;
    to.add(wanted, classes,
           [&](const DeviceRequest &request, const DeviceClass &of_it) {
               cost += cost_of(request.selectors) + cost_of(of_it.selectors);
               return memo_.results_for(request, of_it);
           });
    return cost;
}

std::size_t DeviceAnswers::ask_results(const Gang &gang,
                                       const std::vector<DevicesWanted> &wanted,
                                       const DeviceClasses &classes,
                                       const std::set<DevicePtr> &devices)
{
    std::size_t cost = 0;
    for (const DevicesWanted &one : wanted)
        if (auto of_it = classes.find(one.request->class_name);
            of_it != classes.end()) {
            cost += cost_of(one.request->selectors) +
                    cost_of(of_it->second.selectors) + devices.size();
            memo_.ask_results(*one.request, of_it->second, devices,
                              asker_of(gang));
        }
    return cost;
}

std::string DeviceAnswers::message_for(const Gang &gang) const
{
    return memo_.waits_for_share(gang.key.ns, context_.now)
               ? device_share_message(gang.key.ns)
               : devices_uncompared_message();
}

void DeviceAnswers::ask_due()
{
    if (due() <= context_.now)
        answer_next();
}

// If the catalog changes meanwhile, the answer is one of the devices of before.
void DeviceAnswers::answer_next()
{
    auto catalog = devices_.catalog();
    memo_.turn_to(catalog);
    auto question = memo_.next(context_.now);
    if (!question)
        return;
    errands_.ask(
        [catalog, question = std::move(*question),
         evaluator = evaluator_](Slurm &) -> Result<DeviceAnswer> {
            return evaluator->answer(catalog, question);
        },
        [this](Result<DeviceAnswer> &answer) {
            std::optional<DeviceAnswer> made;
            if (answer)
                made = std::move(*answer);
            else
                log_warning("devices could not be compared with a claim, which "
                            "is tried again",
                            {{"err", answer.error().message}});
            agenda_.wake(memo_.take(std::move(made), context_.now));
            answer_next();
        });
}

} // namespace bridge
