// SPDX-License-Identifier: GPL-2.0-or-later
// How one Slurm job is named. slurmctld reuses JobIds, so a JobId alone never
// identifies a job: whatever is said about a job carries its SLUID too.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

using JobId = std::uint32_t;

// Slurm Lexicographically-sortable Unique ID; 0 is none. Later jobs of one
// cluster have greater values (sluid.c in Slurm).
struct Sluid {
    std::uint64_t value = 0;

    auto operator<=>(const Sluid &) const = default;

    // As Slurm prints it: "s" and 13 digits of Crockford's base 32.
    std::string str() const;

    // The opposite of str(), in either case; nothing for any other text.
    static std::optional<Sluid> parse(std::string_view text);
};

struct JobRef {
    JobId id = 0;
    Sluid sluid;

    auto operator<=>(const JobRef &) const = default;
};

} // namespace bridge
