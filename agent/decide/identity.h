// SPDX-License-Identifier: GPL-2.0-or-later
// Determines the Slurm user of a Pod and what that user may request: from
// annotations of the Namespace, which only administrators write, else
// DefaultUser; from the Pod itself only where k8s.conf lets its namespace
// choose. The agent submits as SlurmUser, from whom Slurm accepts anything, so
// a request that sbatch would deny its user is rejected here. Queries the
// system's user database, which may block on a directory server: call it only
// from a worker thread.
#pragma once

#include "agent/objects/objects.h"
#include "common/base/result.h"
#include "common/contract/conf.h"

#include <cstdint>
#include <string>

namespace bridge {

struct Identity {
    std::uint32_t user_id = 0;
    std::uint32_t group_id = 0;
    std::string account;   // empty: the user's default in Slurm
    std::string qos;       // likewise
    std::int32_t nice = 0; // if the Pod itself requests none

    bool operator==(const Identity &) const = default;
};

// Code::rejected with a message for the Pod's owner: no user is named, a name
// is unknown, its namespace may not request this, or it would be root and
// k8s.conf does not allow that. Code::busy: the user database does not answer.
Result<Identity> identify(const Namespace &ns, const Pod &pod,
                          const Conf &conf);

} // namespace bridge
