// SPDX-License-Identifier: GPL-2.0-or-later
// The hosts of slurmctld, and which of them was the last in control. No RPC
// tells that: a slurmctld on standby answers a ping like the other one. But the
// one in control writes its number and the time into StateSaveLocation every
// few seconds, and slurmctld itself decides by that file whether to take over
// (heartbeat.c). Nothing here asks slurmctld, so nothing waits for it. The
// agent and prep/k8s both read that file.
#pragma once

#include "common/base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct Controllers {
    std::vector<std::string> hosts; // SlurmctldHost=, the primary first
    std::string state_save_location;
};

// Returns the index of the controller with this host name, short or full.
// Code::rejected if there is none.
Result<std::size_t> find_controller(const Controllers &controllers,
                                    const std::string &host_name);

// What the slurmctld in control has written last.
struct Heartbeat {
    std::int64_t time = 0; // seconds since the epoch, by the writer's clock
    std::size_t index = 0; // of the writer among Controllers::hosts

    bool operator==(const Heartbeat &) const = default;
};

// Reads the contents of a heartbeat file: two 64-bit words, the time and the
// index, most significant byte first. Code::rejected for other contents.
Result<Heartbeat> parse_heartbeat(std::string_view contents);

// Reads the heartbeat file. The errors are those of read_file() and
// parse_heartbeat(). May block on the file system.
Result<Heartbeat> read_heartbeat(const Controllers &controllers);

// Which slurmctld was the last in control.
enum class Control { ours, others, unknown };

// With a single slurmctld the result is ours. unknown: there is no heartbeat
// file, or it cannot be read.
Control last_in_control(const Controllers &controllers, std::size_t us);

} // namespace bridge
