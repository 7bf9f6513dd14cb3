// SPDX-License-Identifier: GPL-2.0-or-later
// Makes slurmctld tell the agent who the user is: common/contract/login_dir.h.
#pragma once

#include "common/base/result.h"

#include <string>

namespace bridge {

// Returns the secret to show to the agent; nobody else may see it. Asks
// slurmctld, and blocks up to its MessageTimeout. Code::denied, with a message
// for the user, when slurmctld does not confirm who the user is.
Result<std::string> make_login();

} // namespace bridge
