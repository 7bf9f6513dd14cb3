// SPDX-License-Identifier: GPL-2.0-or-later
// Tells systemd the state of the service (sd_notify(3)). Does nothing unless
// NOTIFY_SOCKET is set.
#pragma once

#include <string_view>

namespace bridge {

// state is, for example, "READY=1" or "STOPPING=1".
void notify_systemd(std::string_view state);

} // namespace bridge
