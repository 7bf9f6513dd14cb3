// SPDX-License-Identifier: GPL-2.0-or-later
// How long the bridge waits before it looks again at what no event tells of.
#pragma once

#include <chrono>

namespace bridge {

inline constexpr std::chrono::seconds access_pause{30}; // for a right
inline constexpr std::chrono::seconds device_pause{1};  // for a free device
// For devices to be listed, soon after the start: later they may never be.
inline constexpr std::chrono::seconds devices_patience{30};

} // namespace bridge
