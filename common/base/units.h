// SPDX-License-Identifier: GPL-2.0-or-later
// Amounts whose type is their unit. Kubernetes quantities come in, Slurm's
// units go out, and every rounding rule is here: requests of Pods are rounded
// up and capacities of nodes down, so that no container gets less than it
// requests.
#pragma once

#include "common/base/result.h"

#include <compare>
#include <cstdint>
#include <string_view>

namespace bridge {

struct MilliCpu {
    std::int64_t value = 0;
    auto operator<=>(const MilliCpu &) const = default;
    MilliCpu &operator+=(MilliCpu o)
    {
        value += o.value;
        return *this;
    }
};

struct Bytes {
    std::int64_t value = 0;
    auto operator<=>(const Bytes &) const = default;
    Bytes &operator+=(Bytes o)
    {
        value += o.value;
        return *this;
    }
};

struct MebiBytes {
    std::uint64_t value = 0;
    auto operator<=>(const MebiBytes &) const = default;
};

// Returns a Kubernetes quantity ("500m", "1Gi", "1e3", "0.1") in multiples of
// 10^scale, rounded up; scale is -3 for thousandths and 0 for units. Exact,
// without floating point. Code::rejected for text that the API server refuses,
// for negative amounts, and for more than 2^62 of the result's unit.
Result<std::int64_t> parse_quantity(std::string_view text, int scale);

Result<MilliCpu> parse_cpu(std::string_view text);
Result<Bytes> parse_bytes(std::string_view text);
Result<std::int64_t> parse_count(std::string_view text);

// The largest terminationGracePeriodSeconds, in seconds, of a Pod that Slurm
// schedules, and the largest MaxGracePeriod, which says how long a Pod can
// occupy its node after its job has ended.
// contribs/kubernetes/base/policy-supported-specs.yaml has the same number.
inline constexpr std::int64_t max_grace_period = 3600;

// The terminationGracePeriodSeconds that the API server gives a Pod which says
// nothing.
inline constexpr std::int64_t default_grace_period = 30;

// Convert the request of a Pod to Slurm's units: at least 1 CPU, at least 1
// MiB.
std::uint32_t whole_cpus_up(MilliCpu cpu);
MebiBytes mebibytes_up(Bytes bytes);

// Convert the capacity of a node to Slurm's units.
std::uint32_t whole_cpus_down(MilliCpu cpu);
MebiBytes mebibytes_down(Bytes bytes);

// Converts Slurm's unit back. The result is exact below 2^43 MiB.
Bytes bytes_of(MebiBytes memory);

} // namespace bridge
