// SPDX-License-Identifier: GPL-2.0-or-later
// The hosts of slurmctld, and which of them was the last to be in control. No
// RPC tells: a slurmctld on standby answers a ping as the other one does. But
// the one in control leaves its number and the time in StateSaveLocation every
// few seconds, and so does slurmctld itself decide whether to take over
// (heartbeat.c). Nothing here asks slurmctld, so nothing waits for it.
#pragma once

#include "common/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct Controllers {
    std::vector<std::string> hosts; // SlurmctldHost=, the primary first
    std::string state_save_location;
};

// From slurm.conf as libslurm has read it. Code::internal when libslurm does
// not say: nobody may then take himself for the only agent.
Result<Controllers> load_controllers();

// Which of them has this host name, short or full.
Result<std::size_t> find_controller(const Controllers &controllers,
                                    const std::string &host_name);

// The number in the contents of a heartbeat file: two 64-bit words, the most
// significant byte first, the time and the number.
Result<std::size_t> parse_heartbeat(std::string_view contents);

// Which slurmctld was the last to be in control.
enum class Control { ours, others, unknown };

// With one slurmctld it is ours. unknown: there is no heartbeat yet, or it
// cannot be read.
Control last_in_control(const Controllers &controllers, std::size_t us);

} // namespace bridge
