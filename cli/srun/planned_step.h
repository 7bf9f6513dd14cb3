// SPDX-License-Identifier: GPL-2.0-or-later
// A step's plan, made of what the environment says of the job, and where the
// job's nodes are.
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

// A variable that says so many seconds; none when it is not set, or empty.
// Code::rejected when it is no number.
Result<std::optional<std::uint32_t>> seconds_of(const Environment &environment,
                                                const std::string &name);

// Until when srun waits for its job's Pods: for ever, unless SLURMK8S_STEP_WAIT
// says for how many seconds. An image may have to be pulled, and the agent ends
// a job whose containers cannot start. Code::rejected as seconds_of().
Result<std::optional<StepClock::time_point>>
launch_limit(const Environment &environment);

// Waits for the Pods' addresses when the step has a node that needs one; no
// host has one otherwise. Code::rejected in srun's words, or Code::busy when
// the Pods have no addresses at the limit.
Result<PlannedStep> plan_and_hosts(const SrunOptions &options,
                                   const Environment &environment,
                                   std::optional<StepClock::time_point> limit);

} // namespace bridge
