// SPDX-License-Identifier: GPL-2.0-or-later
// The hosts of slurmctld, and which of them was the last in control. No RPC
// tells that: a slurmctld on standby answers a ping like the other one. But the
// one in control writes its number and the time into StateSaveLocation every
// few seconds, and slurmctld itself decides by that file whether to take over
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

// Reads slurm.conf as libslurm has loaded it. Code::internal if libslurm does
// not provide the hosts: no agent may then assume that it is the only one.
Result<Controllers> load_controllers();

// Returns the index of the controller with this host name, short or full.
// Code::rejected if there is none.
Result<std::size_t> find_controller(const Controllers &controllers,
                                    const std::string &host_name);

// Returns the controller's index from the contents of a heartbeat file: two
// 64-bit words, the time and the index, most significant byte first.
// Code::rejected for other contents.
Result<std::size_t> parse_heartbeat(std::string_view contents);

// Which slurmctld was the last in control.
enum class Control { ours, others, unknown };

// With a single slurmctld the result is ours. unknown: there is no heartbeat
// file, or it cannot be read.
Control last_in_control(const Controllers &controllers, std::size_t us);

} // namespace bridge
