// SPDX-License-Identifier: GPL-2.0-or-later
// The claims of a NodeSet's volumeClaimTemplates. Each Pod has its own, under
// the name TEMPLATE-POD, as a StatefulSet gives it: a Pod that comes back finds
// its data, also those of an earlier NodeSet of the same name. Pure.
#pragma once

#include "operator/decide/objects.h"
#include "operator/decide/step.h"

#include <string>
#include <vector>

namespace bridge::slinky {

// Why no claim can be made of the templates: a sentence, or "".
std::string wrong_claims(const NodeSet &set);

// The volumes of a Pod's spec as JSON: those of its claims, and of the others
// those with other names.
std::string with_claims(const NodeSet &set, const std::string &pod,
                        const std::vector<Json> &volumes);

// The first claim of this Pod that is being deleted, or "". A Pod that names it
// is never bound, and keeps it from going: no Pod is made before it has gone.
std::string leaving_claim(const Known &known, const NodeSet &set,
                          const std::string &pod);

// What makes the claims of a Pod that is to be created.
std::vector<Step> make_claims(const Known &known, const NodeSet &set,
                              const std::string &pod);

// What persistentVolumeClaimRetentionPolicy asks for. settled: no Pod is to
// come back, so that what no Pod has now is not needed.
std::vector<Step> keep_claims(const Known &known, const NodeSet &set,
                              bool settled);

} // namespace bridge::slinky
