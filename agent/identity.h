// SPDX-License-Identifier: GPL-2.0-or-later
// Whom a Pod runs as in Slurm: its Namespace's annotations, which only
// administrators write, else DefaultUser. Asks the system's user database,
// which may block on a directory server: only from a worker thread.
#pragma once

#include "agent/objects.h"
#include "common/conf.h"
#include "common/result.h"

#include <cstdint>
#include <string>

namespace bridge {

struct Identity {
    std::uint32_t user_id = 0;
    std::uint32_t group_id = 0;
    std::string account; // empty: the user's default in Slurm

    bool operator==(const Identity &) const = default;
};

// Code::rejected with a sentence for the Pod's owner: nobody named, unknown
// names, or root where k8s.conf does not allow it. Code::busy: the user
// database does not answer.
Result<Identity> identify(const Namespace &ns, const Conf &conf);

} // namespace bridge
