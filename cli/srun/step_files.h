// SPDX-License-Identifier: GPL-2.0-or-later
// What srun and the worker find in their Pod: the job's key, the addresses of
// its Pods, and the number of steps it has had.
#pragma once

#include "cli/srun/hosts_file.h"
#include "cli/srun/proof.h"
#include "cli/srun/step_io.h"
#include "common/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

// Returns the directory of these files; tests set SLURMK8S_STEP_DIR.
std::string step_directory();

// Returns slurmd's own port, since each Pod has all ports to itself; tests set
// SLURMK8S_STEP_PORT.
std::uint16_t step_port();

// Returns the key and the hash of this program. Code::not_found or
// Code::rejected.
Result<StepIdentity> load_identity();

// Returns fresh random bytes.
Digest make_nonce();

// Returns the Pods of this job. Their addresses may not be known yet when the
// script starts; then this waits, without end if there is no limit, and says so
// on stderr. Code::busy when the limit is reached.
Result<std::vector<StepHost>>
wait_for_hosts(std::uint32_t count, std::optional<StepClock::time_point> limit);

// Returns 0 for the first step of this job, and then the next number. A file
// that all sruns of the Pod share holds the count.
std::uint32_t next_step_id(std::uint32_t job);

} // namespace bridge
