// SPDX-License-Identifier: GPL-2.0-or-later
// The text of a slurm.conf for a slurmctld without a database. Pure.
#pragma once

#include <string>
#include <string_view>

namespace bridge::slinky {

// Without the pairs KEY=VALUE that only a slurmctld with a database takes: what
// makes it use one, and the QOS that partitions name.
std::string without_database(std::string_view conf);

} // namespace bridge::slinky
