// SPDX-License-Identifier: GPL-2.0-or-later
// The ControllerRevisions of a NodeSet: what its template was, under the name
// NODESET-HASH, whose hash the Pods carry as controller-revision-hash. One that
// a Pod carries stays; of the others revisionHistoryLimit are kept. Pure.
#pragma once

#include "operator/decide/objects.h"
#include "operator/decide/step.h"

#include <string>
#include <vector>

namespace bridge::slinky {

// What makes the present template known, as the newest of all.
std::vector<Step> keep_revision(const Known &known, const NodeSet &set,
                                const std::string &hash);

// What removes those that are too many.
std::vector<Step> drop_revisions(const Known &known, const NodeSet &set,
                                 const std::string &hash,
                                 const std::vector<const Worker *> &workers);

} // namespace bridge::slinky
