// SPDX-License-Identifier: GPL-2.0-or-later
// The ownerReferences of what is made for a NodeSet. Without
// blockOwnerDeletion, for which the operator would need a right to the
// NodeSet's finalizers. Pure.
#pragma once

#include "common/base/json.h"
#include "common/contract/worker_names.h"
#include "operator/decide/objects.h"

namespace bridge::slinky {

inline JsonValue owned_by(const NodeSet &set)
{
    return JsonValue::array(
        {JsonValue::object({{"apiVersion", names::slinky_version},
                            {"kind", "NodeSet"},
                            {"name", set.meta.key.name},
                            {"uid", set.meta.uid},
                            {"controller", true},
                            {"blockOwnerDeletion", false}})});
}

} // namespace bridge::slinky
