// SPDX-License-Identifier: GPL-2.0-or-later
// What all parts of the owner thread share: what time it is in this turn,
// k8s.conf, the ways out of the thread, and the agent's problems. Only the
// coordinator (owner.h) sets the time and the configuration. Owner thread
// only: what a worker needs of it is copied.
#pragma once

#include "agent/owner/health.h"
#include "agent/owner/ports.h"
#include "common/base/mailbox.h"
#include "common/contract/conf.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace bridge {

struct Context {
    std::shared_ptr<const Conf> conf;
    const BridgePorts ports;
    Clock::time_point now{};
    std::chrono::system_clock::time_point wall{}; // the same, by the calendar
    Health health = {};
    std::string standby = {}; // why another agent acts; empty: this one does
    // Why features are off, by their names; for people only.
    std::map<std::string, std::string> features_off = {};
};

} // namespace bridge
