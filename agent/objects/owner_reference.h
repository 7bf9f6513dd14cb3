// SPDX-License-Identifier: GPL-2.0-or-later
// What is made for a Pod and goes with it. Pure.
#pragma once

#include "agent/objects/objects.h"
#include "common/base/json.h"

#include <string>

namespace bridge {

// An item of metadata.ownerReferences: the Pod of that name.
JsonValue owner_reference(const std::string &pod, const std::string &uid);

// The metadata of an object that has the Pod's name, and that it owns.
JsonValue metadata_owned_by(const Pod &pod);

} // namespace bridge
