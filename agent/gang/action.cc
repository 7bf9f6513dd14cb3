// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/action.h"

namespace bridge {

const char *action_name(const Action &action)
{
    return action_name(action.index());
}

const char *action_name(std::size_t index)
{
    static constexpr const char *names[] = {
        "wait",   "forget",       "submit",       "find",     "refuse",
        "look",   "bind",         "start",        "complete", "cancel",
        "renew",  "adopt",        "restamp",      "end_pods", "fail_pods",
        "clean",  "look_volumes", "bind_volumes", "split",    "release_claims",
        "remake", "resume_job"};
    static_assert(std::size(names) == std::variant_size_v<Action>);
    return names[index];
}

} // namespace bridge
