// SPDX-License-Identifier: GPL-2.0-or-later
// One gang's whole story, for people: what slurmk8s explain prints. Pure: the
// owner thread tells what it knows, Slurm tells about the job, and this file
// puts both into words.
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

// What the agent knows about a gang, does for it and waits for.
struct Story {
    Gang gang;
    bool serving = true;
    std::string doing; // the action that a worker carries out now, or ""
    std::string next;  // the action that follows from what is known
    std::string why;   // words of a Wait or a Refuse
    // The next action is not tried before this time has passed; 0: at once.
    std::chrono::seconds held_for{0};
    unsigned failures = 0;    // in a row
    std::string last_failure; // "" after a success
    std::string said;         // last on the Pods
    std::vector<Blocker> blockers;
};

// job: as Slurm has it at this moment; without one, or when Slurm says another
// SLUID, the story tells what the agent last heard of it. The result is the
// object that slurmk8s(1) documents.
JsonValue explain(const Story &story, const std::optional<JobDetails> &job);

// A job of ours that the agent has nothing left to do for.
JsonValue explain_past(const JobDetails &job);

} // namespace bridge
