// SPDX-License-Identifier: GPL-2.0-or-later
// Which resources the device plugins of a Node offer, and how a predicate
// requires Nodes that offer one. Pure.
#pragma once

#include "agent/objects/predicate.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace bridge {

// Prefix of the keys by which a predicate refers to the status of a Node: see
// where_offered().
inline constexpr std::string_view allocatable_field = "status.allocatable/";

// Returns the Node's allocatable amount of the resource, taken or not. 0: the
// Node does not have it, or its device plugin is not running.
std::int64_t offered(const Node &node, const std::string &resource);

// Returns a selector for the Nodes whose device plugins offer the resource.
NodeSelector where_offered(const std::string &resource);
// Returns true if the predicate contains such a selector.
bool asks_for_plugins(const Predicate &predicate);

} // namespace bridge
