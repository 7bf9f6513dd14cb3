// SPDX-License-Identifier: GPL-2.0-or-later
// The PriorityClass lines of k8s.conf(5): what a Kubernetes PriorityClass means
// in Slurm.
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace bridge {

struct PriorityClass {
    std::string qos;       // empty: no QOS
    std::int32_t nice = 0; // a negative value is a higher priority

    bool operator==(const PriorityClass &) const = default;
};

using PriorityClasses = std::map<std::string, PriorityClass>; // by name

// Adds "NAME qos=QOS nice=N"; one of qos and nice may be missing.
// Code::rejected, with the reason, if the text is invalid or NAME has been
// added before.
Result<> add_priority_class(PriorityClasses &classes, std::string_view text);

} // namespace bridge
