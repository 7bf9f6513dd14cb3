// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the values of users' requests as sbatch does. Pure, and safe with any
// input: libslurm's own parsers of these are not in its headers, and
// slurm_parse_time() is neither bounded nor thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

// Slurm's limit of a nice value in both directions (MAX_NICE in sbatch).
inline constexpr std::int64_t max_nice = 2147483645;

// Parses a time in any form that sbatch --time accepts: minutes,
// minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes and
// days-hours:minutes:seconds. Returns minutes, rounded up; 0 is no limit.
// Nothing if malformed.
std::optional<std::uint32_t> parse_time_limit(std::string_view text);

// Parses YYYY-MM-DD, YYYY-MM-DDTHH:MM or YYYY-MM-DDTHH:MM:SS in the time zone
// of this host, or in UTC with a Z at the end; or now, now+COUNT and
// now+COUNTUNIT with the units of sbatch --begin, counted from `now`. Nothing
// if malformed.
std::optional<std::chrono::sys_seconds>
parse_moment(std::string_view text, std::chrono::sys_seconds now);

// COUNT or COUNT@TIME, as in sbatch --switches.
struct Switches {
    std::uint32_t count = 0;
    std::optional<std::chrono::seconds> wait; // none: as Slurm is configured

    bool operator==(const Switches &) const = default;
};
std::optional<Switches> parse_switches(std::string_view text);

// Parses a decimal number from low to high, with an optional sign if low is
// negative.
std::optional<std::int64_t> parse_number(std::string_view text,
                                         std::int64_t low, std::int64_t high);

// Whether this is one name, or several separated by commas, of characters
// allowed in Slurm's names.
bool is_name_list(std::string_view text);

// Whether this is valid for sbatch --dependency: after, afterany, afterok,
// afternotok and aftercorr with JobIds, and singleton; several joined by ',' or
// by '?'. Not expand, which takes over another job's nodes.
bool is_dependency(std::string_view text);

// Whether this is NAME[@SERVER][:COUNT], joined by ',' or by '|', as in sbatch
// --licenses.
bool is_license_list(std::string_view text);

// Whether this is NAME[:TYPE][:COUNT], joined by ',', as in sbatch --gres. Does
// not check whether a Pod may have them.
bool is_gres_list(std::string_view text);

// Whether this is UTF-8 without control characters and has at most 1024 bytes
// (slurmctld's limit).
bool is_plain_text(std::string_view text);

} // namespace bridge
