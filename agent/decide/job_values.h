// SPDX-License-Identifier: GPL-2.0-or-later
// The values of what users ask of Slurm, read as sbatch reads them. Pure, and
// safe with whatever somebody wrote: libslurm's own readers of these are not in
// its headers, and its slurm_parse_time() is neither bounded nor safe in
// threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

// Slurm's own limit of a nice value, either way (MAX_NICE in sbatch).
inline constexpr std::int64_t max_nice = 2147483645;

// Minutes in any form that sbatch --time takes: minutes, minutes:seconds,
// hours:minutes:seconds, days-hours, days-hours:minutes and
// days-hours:minutes:seconds; rounded up. 0 is no limit. Nothing for others.
std::optional<std::uint32_t> parse_time_limit(std::string_view text);

// YYYY-MM-DD, YYYY-MM-DDTHH:MM or YYYY-MM-DDTHH:MM:SS in the time zone of this
// host, or with a Z at the end in UTC; or now, now+COUNT and now+COUNTUNIT with
// the units of sbatch --begin, counted from the given time. Nothing for others.
std::optional<std::chrono::sys_seconds>
parse_moment(std::string_view text, std::chrono::sys_seconds now);

// COUNT or COUNT@TIME, as for sbatch --switches.
struct Switches {
    std::uint32_t count = 0;
    std::optional<std::chrono::seconds> wait; // none: as Slurm is configured

    bool operator==(const Switches &) const = default;
};
std::optional<Switches> parse_switches(std::string_view text);

// A decimal number from low to high, with a sign if low is negative.
std::optional<std::int64_t> parse_number(std::string_view text,
                                         std::int64_t low, std::int64_t high);

// One name, or several with commas between them, of the characters that Slurm's
// names have.
bool is_name_list(std::string_view text);

// As for sbatch --dependency: after, afterany, afterok, afternotok and
// aftercorr with JobIds, and singleton; several joined by ',' or by '?'. Not
// expand, which takes over another job's nodes.
bool is_dependency(std::string_view text);

// NAME[@SERVER][:COUNT] joined by ',' or by '|', as for sbatch --licenses.
bool is_license_list(std::string_view text);

// NAME[:TYPE][:COUNT], as for sbatch --gres; several joined by ','. Whether a
// Pod may have them is not looked at.
bool is_gres_list(std::string_view text);

// UTF-8 without control characters, of 1024 bytes at most (slurmctld's limit).
bool is_plain_text(std::string_view text);

} // namespace bridge
