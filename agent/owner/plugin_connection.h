// SPDX-License-Identifier: GPL-2.0-or-later
// Which connection of slurmctld's plugin a hook message came by, or is meant
// for.
#pragma once

namespace bridge {

using PluginConnection = unsigned; // counted from 1; 0: none

// Whoever is connected: for what is no word of what we know, such as a kick.
constexpr PluginConnection any_plugin = ~0u;

} // namespace bridge
