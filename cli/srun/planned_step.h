// SPDX-License-Identifier: GPL-2.0-or-later
// The plan of a step, made from the environment variables of the job, and the
// addresses of the job's nodes.
#pragma once

#include "cli/srun/hosts_file.h"
#include "cli/srun/srun_options.h"
#include "cli/srun/step_io.h"
#include "cli/srun/step_plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

struct PlannedStep {
    StepPlan plan;
    std::vector<StepHost> hosts; // of the job, up to the step's component
};

// Returns the number of seconds that a variable holds, or nothing if it is not
// set or empty. Code::rejected when it is not a number.
Result<std::optional<std::uint32_t>> seconds_of(const Environment &environment,
                                                const std::string &name);

// Returns until when srun waits for the job's Pods: without limit, unless
// SLURMK8S_STEP_WAIT holds a number of seconds. An image may have to be pulled,
// and the agent ends a job whose containers cannot start. Code::rejected as for
// seconds_of().
Result<std::optional<StepClock::time_point>>
launch_limit(const Environment &environment);

// Plans the step. Waits for the Pods' addresses only if the step has a node
// that needs one; otherwise hosts have no addresses. Code::rejected with
// Slurm's message, or Code::busy when the Pods have no addresses at the limit.
Result<PlannedStep> plan_and_hosts(const SrunOptions &options,
                                   const Environment &environment,
                                   std::optional<StepClock::time_point> limit);

} // namespace bridge
