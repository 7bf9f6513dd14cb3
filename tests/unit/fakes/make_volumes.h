// SPDX-License-Identifier: GPL-2.0-or-later
// Volumes and claims for them, for tests.
#pragma once

#include "agent/objects/volumes.h"

#include <string>

namespace bridge {

inline NodeSelector on_host(const std::string &node)
{
    return {{{"kubernetes.io/hostname", false, NodeOperator::in, {node}}}};
}

// One that has no volume yet.
inline Claim make_claim(const std::string &name,
                        const std::string &storage_class)
{
    Claim claim;
    claim.ns = "default";
    claim.name = name;
    claim.uid = "uid-" + name;
    claim.phase = "Pending";
    claim.storage_class = storage_class;
    return claim;
}

inline void bind_claim(Claim &claim, const std::string &volume)
{
    claim.phase = "Bound";
    claim.volume = volume;
    claim.bound = true;
}

inline Volume make_volume(const std::string &name, const std::string &node,
                          const std::string &storage_class = "local")
{
    Volume volume;
    volume.name = name;
    volume.phase = "Available";
    volume.storage_class = storage_class;
    if (!node.empty())
        volume.affinity = on_host(node);
    return volume;
}

} // namespace bridge
