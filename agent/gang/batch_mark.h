// SPDX-License-Identifier: GPL-2.0-or-later
// The mark by which a Pod names the batch job that it was made for. A value.
#pragma once

#include "agent/objects/objects.h"
#include "common/slurm/batch_job.h"

#include <optional>
#include <string>

namespace bridge {

// What a Pod says of the batch job for which it was made.
struct BatchMark {
    JobRef job;
    std::string script; // the name of its file
    std::optional<ArrayTask> array{};

    bool operator==(const BatchMark &) const = default;
};

std::string encode(const BatchMark &mark);
// Nothing for any other Pod.
std::optional<BatchMark> batch_mark(const Pod &pod);

// Both are of the same task of one array. A crash of slurmctld makes it forget
// that it has started a task, which then gets another JobId.
bool is_same_task(const BatchMark &one, const BatchMark &other);

// The name of the Pod, and of its Secret: the same whenever it is asked for,
// and of an array's task whatever JobId that has.
std::string batch_pod_name(const BatchMark &mark);

} // namespace bridge
