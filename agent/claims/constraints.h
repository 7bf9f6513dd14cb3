// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the constraints of a claim on its devices: unmet_constraint_reason()
// of check.h, and the same for devices that are added one by one. Pure.
#pragma once

#include "agent/claims/check.h"

#include <span>
#include <string>
#include <string_view>

namespace bridge {

// Returns true if the constraints still hold when one more device is added.
// They must hold without it: only the new device is compared with the others.
// looks is increased for each comparison.
bool goes_with(const ResourceClaim &claim, std::span<const ChosenDevice> chosen,
               const ChosenDevice &more, int &looks);

// Returns the message "device D for request R: WHY".
std::string quoted(const ChosenDevice &chosen, std::string_view reason);

} // namespace bridge
