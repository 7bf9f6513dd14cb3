// SPDX-License-Identifier: GPL-2.0-or-later
// Which resources the device plugins of a Node offer, and how a predicate asks
// for Nodes that offer one. Pure.
#pragma once

#include "agent/objects/predicate.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace bridge {

// So begins what is asked of a Node's status in a predicate: see
// where_offered().
inline constexpr std::string_view allocatable_field = "status.allocatable/";

// So many of the resource the Node's kubelet can give away, ever; 0: it has
// none, or its device plugin is away.
std::int64_t offered(const Node &node, const std::string &resource);

// The Nodes whose device plugins offer it.
NodeSelector where_offered(const std::string &resource);
// Whether a predicate asks that of a Node.
bool asks_for_plugins(const Predicate &predicate);

} // namespace bridge
