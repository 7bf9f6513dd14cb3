// SPDX-License-Identifier: GPL-2.0-or-later
// What all parts of the owner thread share: what time it is in this turn,
// k8s.conf, the ways out of the thread, and the agent's problems. Only the
// coordinator (bridge.h) sets the time and the configuration. Owner thread
// only: what a worker needs of it is copied.
#pragma once

#include "agent/owner/health.h"
#include "agent/owner/ports.h"
#include "common/base/mailbox.h"
#include "common/contract/conf.h"

#include <chrono>
#include <memory>

namespace bridge {

struct Context {
    std::shared_ptr<const Conf> conf;
    const BridgePorts ports;
    Clock::time_point now{};
    std::chrono::system_clock::time_point wall{}; // the same, by the calendar
    Health health = {};
};

} // namespace bridge
