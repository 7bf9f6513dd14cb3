// SPDX-License-Identifier: GPL-2.0-or-later
// Semantic versions (semver.org 2.0.0), as the version attributes of devices
// are. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct Semver {
    std::uint64_t major = 0;
    std::uint64_t minor = 0;
    std::uint64_t patch = 0;
    std::vector<std::string> prerelease;

    // Strict: three numbers without leading zeros, then "-" and "+" parts, of
    // which the second counts for nothing. Else nothing.
    static std::optional<Semver> parse(std::string_view text);

    std::strong_ordering operator<=>(const Semver &other) const;
    bool operator==(const Semver &other) const;
};

} // namespace bridge
