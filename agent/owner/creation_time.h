// SPDX-License-Identifier: GPL-2.0-or-later
// When a Pod was created, by our clock, as well as it is known. The API server
// tells only the second. An event about a new Pod comes within milliseconds, so
// its time is taken if it is in that second or soon after; events that come
// late, after an outage or out of a list, tell nothing. Pure.
#pragma once

#include "agent/objects/objects.h"

#include <chrono>

namespace bridge {

inline std::chrono::system_clock::time_point creation_of(const Pod &pod)
{
    constexpr std::chrono::seconds soon{3}; // as clocks may differ, too
    auto late = pod.arrived - pod.created;
    return late > -soon && late < soon
               ? pod.arrived
               : std::chrono::system_clock::time_point(pod.created);
}

} // namespace bridge
