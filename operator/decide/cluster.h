// SPDX-License-Identifier: GPL-2.0-or-later
// A Controller whose slurmctld the operator runs: what is made for it, and in
// which order it goes. slurmctld stays until no Pod with a slurmd is left,
// since nobody else could say that their nodes are drained. Pure.
//
//   condition   True when
//   ----------  ------------------------------------------------------------
//   Accepted    a slurmctld can be made of it: otherwise nothing is made
//   Served      the operator serves all that the spec asks for
//   Available   slurmctld answers
//   ConfigValid a slurmctld that tried the configuration came up: otherwise the
//               one that serves keeps what it has
//   ConfigApplied  slurmctld has read the last one that was accepted
//   Updated     slurmctld has the image that is wished, or nothing keeps it
//               from that (operator/decide/release_order.h)
//   Agent       slurmk8sd runs beside it, and serves what it is to serve
//               (operator/decide/agent_state.h)
//   Failing     the API server refuses a step
//   Deleting    it is being deleted, and waits for its workers
#pragma once

#include "operator/decide/decide.h"
#include "operator/decide/objects.h"

#include <string>
#include <vector>

namespace bridge::slinky {

std::vector<Step> decide_cluster(const Known &known,
                                 const Controller &controller,
                                 const Failures &failures, Now now);

// Why nothing can be made of it: a sentence, or "".
std::string cluster_problem(const Known &known, const Controller &controller);

} // namespace bridge::slinky
