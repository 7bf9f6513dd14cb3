// SPDX-License-Identifier: GPL-2.0-or-later
// Owners of objects: the metadata of objects that are created for a Pod and
// deleted with it, and which Pods belong to a NodeSet. Pure.
#pragma once

#include "agent/objects/objects.h"
#include "common/base/json.h"

#include <string>

namespace bridge {

// Returns an item for metadata.ownerReferences that names the Pod as owner.
JsonValue owner_reference(const std::string &pod, const std::string &uid);

// Returns the metadata of an object that has the Pod's name and is owned by it.
JsonValue metadata_owned_by(const Pod &pod);

// Whether the metadata of a Pod names a NodeSet (slinky.slurm.net) as its
// controller: slurmd runs in such a Pod. Whoever may create Pods can write it.
bool has_node_set(const Json &metadata);

} // namespace bridge
