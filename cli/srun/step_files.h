// SPDX-License-Identifier: GPL-2.0-or-later
// What srun and the worker find in their Pod: the job's key, where its Pods
// are, and how many steps it has had.
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

// The directory of these files; SLURMK8S_STEP_DIR for tests.
std::string step_directory();

// slurmd's own: each Pod has all ports to itself. SLURMK8S_STEP_PORT for tests.
std::uint16_t step_port();

// The key, and this program's hash. Code::not_found or Code::rejected.
Result<StepIdentity> load_identity();

// Fresh random bytes.
Digest make_nonce();

// The Pods of this job. They are not known yet when the script starts: it is
// waited for them, for ever without a limit, and said on stderr. Code::busy
// when that takes too long.
Result<std::vector<StepHost>>
wait_for_hosts(std::uint32_t count, std::optional<StepClock::time_point> limit);

// 0 for the first step of this job, counted in a file that all sruns of the
// Pod share.
std::uint32_t next_step_id(std::uint32_t job);

} // namespace bridge
