// SPDX-License-Identifier: GPL-2.0-or-later
// Identifies one Slurm job. slurmctld reuses JobIds, so a JobId alone is not
// enough: every message about a job carries its SLUID, too.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

using JobId = std::uint32_t;

// Slurm Lexicographically-sortable Unique ID; 0: none. Within a cluster, later
// jobs have greater values (sluid.c in Slurm).
struct Sluid {
    std::uint64_t value = 0;

    auto operator<=>(const Sluid &) const = default;

    // Returns the SLUID as Slurm prints it: "s" and 13 digits of Crockford's
    // base 32.
    std::string str() const;

    // Parses what str() returns, in upper or lower case. Nothing for any other
    // text.
    static std::optional<Sluid> parse(std::string_view text);
};

struct JobRef {
    JobId id = 0;
    Sluid sluid;

    auto operator<=>(const JobRef &) const = default;
};

} // namespace bridge
