// SPDX-License-Identifier: GPL-2.0-or-later
// What a claim's constraints say of its devices together: why_not_held() of
// check.h, and the same where devices are added one by one. Pure.
#pragma once

#include "agent/claims/check.h"

#include <span>
#include <string>
#include <string_view>

namespace bridge {

// Whether the constraints are held by these devices and one more. They are by
// these alone: only the new one is looked at, against the others. looks counts
// how often.
bool goes_with(const ResourceClaim &claim, std::span<const ChosenDevice> chosen,
               const ChosenDevice &more, int &looks);

// The words of a refusal.
std::string quoted(const ChosenDevice &chosen, std::string_view why);

} // namespace bridge
