// SPDX-License-Identifier: GPL-2.0-or-later
// Explains Slurm's reasons for pending jobs in plain words. Pure; knows only
// the reasons that squeue prints.
#pragma once

#include <string>
#include <string_view>

namespace bridge {

struct ReasonExplanation {
    std::string meaning; // what the reason means
    std::string remedy;  // what has to change
};

// reason: as squeue prints it, including details after the reason, such as
// "ReqNodeNotAvail, UnavailableNodes:kn1". An unknown reason has no meaning,
// and a general remedy.
ReasonExplanation explain_reason(std::string_view reason);

// Returns the same class for reasons between which a waiting job alternates
// while the queue moves: its owner need not be told about a change within a
// class.
std::string reason_class(std::string_view reason);

// Whether more nodes of a kind that the job may have would let it start: what
// it asks for is not free, or no node has it. False for "BadConstraints", with
// which Slurm holds a job for good, and for "Priority", which says nothing
// about what the jobs before it wait for: see queue_wants.h.
bool wants_nodes(std::string_view reason);

// Whether the job waits by its own wish, and would on an empty cluster, too: it
// is held, or asks for a later time or for the end of other jobs.
bool is_own_wish(std::string_view reason);

} // namespace bridge
