// SPDX-License-Identifier: GPL-2.0-or-later
// How a NodeSet follows Slurm's queue. Users write annotations, "0-32" and
// "5m". The operator reads them, and writes what follows as one annotation,
// which the agent reads: how many workers there may be, which names their Slurm
// nodes have, and what their slurmd registers. The agent sets the replicas.
// Pure.
#pragma once

#include "common/base/json.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

namespace names {

// On a NodeSet, set by people: "0-32" has the agent set the replicas by the
// jobs that wait, and "5m" says how long a worker is idle before it goes. The
// operator says by the third which workers there may be.
inline constexpr char autoscale_annotation[] = "slurmk8s/autoscale";
inline constexpr char scale_down_annotation[] = "slurmk8s/scale-down-after";
inline constexpr char potential_annotation[] = "slurmk8s/potential-workers";

} // namespace names

// Slurm has no more nodes than this.
inline constexpr std::uint32_t most_autoscaled = 65533;
// How long a worker is idle before it goes, if nobody says it.
inline constexpr std::chrono::seconds usual_idle_time{300};

struct ReplicaRange {
    std::uint32_t least = 0;
    std::uint32_t most = 0;

    bool operator==(const ReplicaRange &) const = default;
};

// "0-32". Nothing for any other text, for a range that is empty, and for one
// that allows no worker or too many.
std::optional<ReplicaRange> read_replica_range(std::string_view text);

// "90s", "5m" or "1h", up to 365 days. Nothing for any other text.
std::optional<std::chrono::seconds> read_idle_time(std::string_view text);

// The workers that a NodeSet may have.
struct PotentialWorkers {
    ReplicaRange range;
    std::chrono::seconds idle_time = usual_idle_time;
    std::string prefix;       // of the names of the Slurm nodes
    std::uint32_t digits = 0; // of their numbers, at least
    std::string conf;         // "CPUs=4 RealMemory=8000 Feature=w"

    std::string text() const;
    // The name of a Slurm node; number: from 0.
    std::string node(std::uint32_t number) const;
    // The number of a Slurm node; nothing if the name is none of these.
    std::optional<std::uint32_t> number_of(std::string_view node) const;

    bool operator==(const PotentialWorkers &) const = default;
};

// Nothing for a text that text() cannot have made: then slurmctld gets none of
// it. Names consist of what a host name may have, and conf of words NAME=VALUE
// that name no node, address, state or reason.
std::optional<PotentialWorkers> read_potential_workers(std::string_view text);

} // namespace bridge
