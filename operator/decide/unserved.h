// SPDX-License-Identifier: GPL-2.0-or-later
// What the objects ask for and this release does not serve, in words: nothing
// is ignored in silence. Pure.
#pragma once

#include "operator/decide/objects.h"

#include <string>
#include <vector>

namespace bridge::slinky {

// A phrase for each field, such as "ssh.enabled (no sshd runs)".
std::vector<std::string> unserved_fields(const NodeSet &set);
std::vector<std::string> unserved_fields(const Controller &controller);

} // namespace bridge::slinky
