// SPDX-License-Identifier: GPL-2.0-or-later
// The annotation in which a Pod names the batch job that it was created for. A
// value.
#pragma once

#include "agent/objects/objects.h"
#include "common/slurm/batch_job.h"

#include <optional>
#include <string>

namespace bridge {

// The batch job that a Pod was created for.
struct BatchMark {
    JobRef job;
    std::string script; // name of the script's file
    std::optional<ArrayTask> array{};

    bool operator==(const BatchMark &) const = default;
};

std::string encode(const BatchMark &mark);
// Returns nothing if the Pod was not created for a batch job.
std::optional<BatchMark> batch_mark(const Pod &pod);

// Whether both name the same task of one array. After a crash slurmctld may
// have forgotten that it started a task; the task then gets another JobId.
bool is_same_task(const BatchMark &one, const BatchMark &other);

// Returns the name of the Pod and of its Secret. The name is always the same;
// for an array task it does not depend on the task's JobId.
std::string batch_pod_name(const BatchMark &mark);

} // namespace bridge
