// SPDX-License-Identifier: GPL-2.0-or-later
// The metadata of what the operator makes. Pure.
#pragma once

#include "common/base/json.h"
#include "operator/decide/objects.h"

#include <string>

namespace bridge::slinky {

// An object of these texts, such as labels.
JsonValue texts_json(const TextMap &texts);

// The ownerReferences of what is made for an object of ours. Without
// blockOwnerDeletion, for which the operator would need a right to the owner's
// finalizers.
JsonValue owned_by(const char *kind, const Meta &owner);
JsonValue owned_by(const NodeSet &set);

// Of what is made for all slurmd Pods of a Controller.
JsonValue workers_metadata(const Controller &controller,
                           const std::string &name);

} // namespace bridge::slinky
