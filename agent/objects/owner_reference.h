// SPDX-License-Identifier: GPL-2.0-or-later
// The metadata of objects that are created for a Pod and deleted with it. Pure.
#pragma once

#include "agent/objects/objects.h"
#include "common/base/json.h"

#include <string>

namespace bridge {

// Returns an item for metadata.ownerReferences that names the Pod as owner.
JsonValue owner_reference(const std::string &pod, const std::string &uid);

// Returns the metadata of an object that has the Pod's name and is owned by it.
JsonValue metadata_owned_by(const Pod &pod);

} // namespace bridge
