// SPDX-License-Identifier: GPL-2.0-or-later
// What our plugins need to know about a job, read from its record as slurmctld
// packs it for other programs of Slurm and for its own state file. Pure.
//
// slurmctld knows the same as the environment of prolog and epilog scripts,
// too, but makes that with the names of user and group, which it asks the user
// database for while it holds its locks. A packed record has what slurmctld
// itself knows, and nothing else.
#pragma once

#include "plugins/shared/job_facts.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace bridge {

// The protocol version of Slurm 26.05 (slurm_protocol_common.h). What a release
// packs for a version never changes, and Slurm packs for that of its last three
// releases.
inline constexpr std::uint16_t packed_job_version = 45 << 8;

// packed: by job_record_pack() (job_record.c) for this version; what follows
// the record is not looked at. Nothing if it is not such a record.
std::optional<JobFacts> facts_in_packed(std::string_view packed);

} // namespace bridge
