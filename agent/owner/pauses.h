// SPDX-License-Identifier: GPL-2.0-or-later
// How long the owner thread waits before it checks again what no event reports.
#pragma once

#include <chrono>

namespace bridge {

inline constexpr std::chrono::seconds access_pause{30}; // for a right
inline constexpr std::chrono::seconds device_pause{1};  // for a free device
// Until the watch should show what this agent, or another, has written.
inline constexpr std::chrono::seconds watch_lag{1};
// A wait that is over sooner is not worth a Warning on the Pods.
inline constexpr std::chrono::seconds told_after{2};
// For devices to be listed after the start. If they are not listed by then,
// they may never be.
inline constexpr std::chrono::seconds devices_patience{30};

// Slurm's nodes are compared again: after a step that failed, and when
// slurmctld does not answer or the state of nodes is in doubt.
inline constexpr std::chrono::seconds node_step_pause{30};
inline constexpr std::chrono::seconds node_doubt_pause{2};

} // namespace bridge
