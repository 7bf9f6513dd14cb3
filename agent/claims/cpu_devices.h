// SPDX-License-Identifier: GPL-2.0-or-later
// Devices that are CPUs, one by one, as dra-driver-cpu publishes them in its
// mode "individual". Slurm counts them as CPUs, not as GRES: a job has as many
// CPUs as its Pods' claims have such devices, or more. Which ones is Slurm's
// wish alone: nothing binds a container to the cores of an external node but
// its claim. So a device that a claim has still is swapped for another one of
// the node, which nobody can tell from it, instead of giving the job back.
// Pure.
#pragma once

#include "agent/claims/pools.h"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace bridge {

// The CPU devices of Nodes, by Kubernetes' name. The n-th is Slurm's CPU n of
// an external node: reserved CPUs have no device, and no number in Slurm.
using NodeCpus = std::map<std::string, std::vector<DevicePtr>>;

// By name as people count: cpudev9 before cpudev10. So dra-driver-cpu numbers
// them: by CPU id, hyperthreads of a core together.
void put_in_order(std::vector<DevicePtr> &cpus);

// What a job may take of a node's devices, best first.
struct CpuOffer {
    // Those which Slurm gave to the job and nobody has, others that nobody has,
    // and those that claims have still.
    std::vector<DevicePtr> devices;
    std::size_t own = 0;  // so many are the job's
    std::size_t free = 0; // so many are nobody's: own, and more
};

// ids: Slurm's numbers of the job's CPUs there.
CpuOffer offer_cpus(const std::vector<DevicePtr> &cpus,
                    std::span<const std::uint32_t> ids,
                    const std::function<bool(const DeviceId &)> &is_taken);

} // namespace bridge
