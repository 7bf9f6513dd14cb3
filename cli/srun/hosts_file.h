// SPDX-License-Identifier: GPL-2.0-or-later
// The file that says where the Pods of a job are: a line "RANK NODENAME IP" for
// each, in any order. The agent writes it as an annotation, and the kubelet
// shows it as a file. Pure functions.
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct StepHost {
    std::string name;    // of the Slurm node
    std::string address; // IPv4 or IPv6

    bool operator==(const StepHost &) const = default;
};

inline constexpr std::uint32_t max_step_hosts = 65536;

// Returns the hosts of ranks 0 to count - 1. Code::not_found when some are
// still missing, Code::rejected, with the line number, when the file is
// malformed.
Result<std::vector<StepHost>> parse_hosts_file(std::string_view text,
                                               std::uint32_t count);

} // namespace bridge
