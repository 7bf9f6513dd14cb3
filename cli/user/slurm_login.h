// SPDX-License-Identifier: GPL-2.0-or-later
// Lets slurmctld tell the agent who we are: common/contract/login_dir.h.
#pragma once

#include "common/base/result.h"

#include <string>

namespace bridge {

// The secret to show the agent; nobody else may see it. Asks slurmctld, and
// blocks up to its MessageTimeout. Code::denied, in words, when slurmctld does
// not say who we are.
Result<std::string> make_login();

} // namespace bridge
