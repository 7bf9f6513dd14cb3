// SPDX-License-Identifier: GPL-2.0-or-later
// Identifies the connection to slurmctld's plugin by which a hook message came,
// or for which it is meant.
#pragma once

namespace bridge {

using PluginConnection = unsigned; // counted from 1; 0: none

// Whichever plugin is connected: for messages, such as a kick, that do not
// depend on what the agent knows.
constexpr PluginConnection any_plugin = ~0u;

} // namespace bridge
