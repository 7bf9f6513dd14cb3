// SPDX-License-Identifier: GPL-2.0-or-later
// What a Kubernetes PriorityClass means in Slurm: a line of k8s.conf(5).
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace bridge {

struct PriorityClass {
    std::string qos;       // empty: it names none
    std::int32_t nice = 0; // below 0 is a higher priority

    bool operator==(const PriorityClass &) const = default;
};

using PriorityClasses = std::map<std::string, PriorityClass>; // by name

// Adds "NAME qos=QOS nice=N", of which either word may be missing.
// Code::rejected says what is wrong with it, or that NAME is known already.
Result<> add_priority_class(PriorityClasses &classes, std::string_view text);

} // namespace bridge
