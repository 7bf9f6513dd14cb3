// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/action.h"

#include <iterator>

namespace bridge {

namespace {

constexpr const char *action_names[] = {
    "submit",       "look",         "bind",           "complete", "cancel",
    "renew",        "adopt",        "restamp",        "end_pods", "fail_pods",
    "look_volumes", "bind_volumes", "release_claims", "remake",   "resume_job"};
static_assert(std::size(action_names) == std::variant_size_v<Action>);

constexpr const char *step_names[] = {"wait",  "forget", "find", "refuse",
                                      "start", "clean",  "split"};
static_assert(std::size(step_names) == std::variant_size_v<OwnerStep>);

} // namespace

const char *action_name(const Action &action)
{
    return action_name(action.index());
}

const char *action_name(std::size_t index)
{
    return action_names[index];
}

const char *decision_name(const Decision &decision)
{
    if (const auto *action = std::get_if<Action>(&decision))
        return action_name(*action);
    return step_names[std::get<OwnerStep>(decision).index()];
}

} // namespace bridge
