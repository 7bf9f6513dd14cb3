// SPDX-License-Identifier: GPL-2.0-or-later
// Tells systemd how the service is (sd_notify(3)), where NOTIFY_SOCKET says
// that it listens; does nothing elsewhere.
#pragma once

#include <string_view>

namespace bridge {

// state: such as "READY=1" or "STOPPING=1".
void notify_systemd(std::string_view state);

} // namespace bridge
