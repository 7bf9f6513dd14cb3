// SPDX-License-Identifier: GPL-2.0-or-later
// Whom a Pod runs as in Slurm, and with what rights there: its Namespace's
// annotations, which only administrators write, else DefaultUser; what the Pod
// itself names only where k8s.conf lets its namespace choose. The agent submits
// as SlurmUser, from whom Slurm takes anything, so what sbatch would refuse its
// user is refused here. Asks the system's user database, which may block on a
// directory server: only from a worker thread.
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
    std::int32_t nice = 0; // where the Pod itself says none

    bool operator==(const Identity &) const = default;
};

// Code::rejected with a sentence for the Pod's owner: nobody named, unknown
// names, a wish that its namespace may not have, or root where k8s.conf does
// not allow it. Code::busy: the user database does not answer.
Result<Identity> identify(const Namespace &ns, const Pod &pod,
                          const Conf &conf);

} // namespace bridge
