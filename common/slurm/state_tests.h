// SPDX-License-Identifier: GPL-2.0-or-later
// The states of nodes and jobs by the names that slurmctld's own metrics have
// for them (doc/html/metrics.shtml of Slurm). Several may hold at once: a base
// state, and flags. Pure.
#pragma once

#include <cstdint>
#include <span>

namespace bridge {

struct StateTest {
    const char *name; // "idle"
    bool (*holds)(std::uint32_t state);
};

// state: node_state of slurm.h. FUTURE is not among them: slurmctld does not
// show such nodes unless it is asked to.
std::span<const StateTest> node_state_tests();
// state: job_state of slurm.h. Whether a pending job is held is not in there.
std::span<const StateTest> job_state_tests();

bool is_pending(std::uint32_t job_state);
bool is_running(std::uint32_t job_state);
// Whether a job has been given nodes and does not run there yet: they boot, or
// a prolog is not over. Its start time may still change.
bool is_starting(std::uint32_t job_state);
// Whether a job in this state has nodes, which it may be about to leave.
bool has_allocation(std::uint32_t job_state);

// Returns the name of the state in which a job has ended, as in the list above;
// nullptr: it has not ended.
const char *end_state_name(std::uint32_t job_state);

} // namespace bridge
