// SPDX-License-Identifier: GPL-2.0-or-later
// Semantic versions (semver.org 2.0.0), the type of the version attributes of
// devices. Pure.
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

    // Parses strictly: three numbers without leading zeros, then optional "-"
    // and "+" parts; the "+" part is ignored. Returns nothing if the text is
    // not a version.
    static std::optional<Semver> parse(std::string_view text);

    std::strong_ordering operator<=>(const Semver &other) const;
    bool operator==(const Semver &other) const;
};

} // namespace bridge
