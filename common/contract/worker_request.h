// SPDX-License-Identifier: GPL-2.0-or-later
// How slurmk8s-operator asks the agent for a slurmd Pod, and how the agent
// answers. A request is an annotation of the Pod, "drain 3" or "keep 4": each
// has the next number. An answer is a condition that is True once the node is
// drained and has no job. Its message names what it answers:
// "uid=UID request=3 slurmctld=1800000000 read=1800000123". An answer to
// another request, or of another Pod of the same name, means nothing. Neither
// does an old one: an agent that has died cannot take it back. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

struct WorkerRequest {
    std::uint64_t number = 0; // from 1
    bool drain = false;       // otherwise the Pod is to go on

    std::string text() const;

    bool operator==(const WorkerRequest &) const = default;
};

// Nothing for any other text.
std::optional<WorkerRequest> read_worker_request(std::string_view text);

struct DrainAnswer {
    std::string uid;           // of the Pod
    std::uint64_t request = 0; // its number
    // In seconds since 1970: when slurmctld was started, and when the agent has
    // read there that no job is left.
    std::uint64_t slurmctld = 0;
    std::uint64_t read = 0;

    std::string text() const;

    bool operator==(const DrainAnswer &) const = default;
};

// How long an answer may be relied on, by the clocks of both hosts.
inline constexpr std::chrono::seconds answer_lifetime{30};
bool is_recent(const DrainAnswer &answer, std::chrono::sys_seconds now);

// Nothing for any other text.
std::optional<DrainAnswer> read_drain_answer(std::string_view text);

} // namespace bridge
