// SPDX-License-Identifier: GPL-2.0-or-later
// The status of a Controller and of the kinds that are conditions only, in
// words. Pure.
#pragma once

#include "operator/decide/status.h"

#include <string>
#include <vector>

namespace bridge::slinky {

// Writes these conditions, if they are not there already.
std::vector<Step> say(const std::string &kind, const std::string &plural,
                      const Meta &meta, const std::vector<Condition> &before,
                      const std::vector<Said> &said, Now now);

Said accepted(const std::string &problem, const std::string &otherwise);
// Whether it has the image that is wished; reason: why not, or "".
Said updated(const std::string &reason);
Said failing(const std::string &failure);

} // namespace bridge::slinky
