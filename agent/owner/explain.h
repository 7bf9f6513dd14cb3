// SPDX-License-Identifier: GPL-2.0-or-later
// The story of one gang for people, which slurmk8s explain prints. Pure
// functions: the owner thread tells what it knows, Slurm tells about the job,
// and this file puts both into sentences.
#pragma once

#include "agent/gang/gang.h"
#include "common/base/json.h"
#include "common/slurm/job.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

// Containers of an ended job that keep a node from being used.
struct Blocker {
    std::string node; // the Node's name
    std::string gang; // "ns/name"
    JobId job = 0;    // 0: a job that Slurm has lost

    bool operator==(const Blocker &) const = default;
};

// Since when the containers of an ended job have been told to stop, and how
// long they have from SIGTERM to SIGKILL.
struct Ending {
    std::chrono::sys_seconds since{};
    std::chrono::seconds grace{0};
};

// What the agent knows about a gang, does for it and waits for.
struct Story {
    Gang gang;
    bool serving = true;
    std::string doing;  // the action a worker carries out now, or ""
    std::string next;   // the action that follows from what is known
    std::string reason; // the reason of a Wait or a Refuse
    // Time until the next action is tried; 0 means at once.
    std::chrono::seconds held_for{0};
    unsigned failures = 0;    // in a row
    std::string last_failure; // "" after a success
    std::string said;         // the last message on the Pods
    // It waits until fewer Pods wait in Slurm (agent/decide/pending_quota.h).
    bool in_line = false;
    std::vector<Blocker> blockers;
    std::optional<Ending> ending;
};

// Returns the object that slurmk8s(1) documents. job is the job as Slurm knows
// it now. Without it, or if its SLUID is not that of the gang's job, the result
// describes what the agent last heard of the job.
JsonValue explain(const Story &story, const std::optional<JobDetails> &job);

// Describes a job made by the agent for which nothing is left to do.
JsonValue explain_past(const JobDetails &job);

} // namespace bridge
