// SPDX-License-Identifier: GPL-2.0-or-later
// What both ways of slurmk8s top share.
#pragma once

#include "cli/commands.h"
#include "cli/top/top_screen.h"
#include "cli/top/top_view.h"

#include <chrono>
#include <ctime>
#include <optional>

namespace bridge {

// 0 for numbers of Slurm, otherwise 1.
inline int exit_status_of(const TopView &view)
{
    return view.state == TopState::counted ? exit_ok : exit_failed;
}

// Now, by the clock and the time zone of this process.
inline ScreenTime
screen_time(std::optional<std::chrono::sys_seconds> without_since)
{
    using namespace std::chrono;
    auto now = floor<seconds>(system_clock::now());
    std::time_t time = system_clock::to_time_t(now);
    std::tm local{};
    bool known = localtime_r(&time, &local) != nullptr;
    return {now, seconds(known ? local.tm_gmtoff : 0), without_since};
}

} // namespace bridge
