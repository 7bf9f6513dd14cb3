// SPDX-License-Identifier: GPL-2.0-or-later
// Amounts with their unit in the type, Kubernetes quantities in, Slurm's units
// out, and every rounding rule. Rounding is always up for what a Pod asks and
// down for what a node has, so that no container ever gets less than it asked.
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

// A Kubernetes quantity ("500m", "1Gi", "1e3", "0.1") in multiples of
// 10^scale, scale -3 for thousandths and 0 for units, rounded up. Exact: no
// floating point. Code::rejected for what the API server would refuse too, for
// negative amounts, and for more than 2^62 of the result's unit.
Result<std::int64_t> parse_quantity(std::string_view text, int scale);

Result<MilliCpu> parse_cpu(std::string_view text);
Result<Bytes> parse_bytes(std::string_view text);
Result<std::int64_t> parse_count(std::string_view text);

// Seconds: the largest terminationGracePeriodSeconds of a Pod that Slurm
// schedules, since so long its node stays taken after its job's end. Also in
// contribs/kubernetes/base/policy-supported-specs.yaml.
inline constexpr std::int64_t max_grace_period = 3600;

// What a Pod asks, in Slurm's units: at least 1 CPU, at least 1 MiB.
std::uint32_t whole_cpus_up(MilliCpu cpu);
MebiBytes mebibytes_up(Bytes bytes);

// What a node has, in Slurm's units.
std::uint32_t whole_cpus_down(MilliCpu cpu);
MebiBytes mebibytes_down(Bytes bytes);

} // namespace bridge
