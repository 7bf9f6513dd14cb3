// SPDX-License-Identifier: GPL-2.0-or-later
// Devices that are single CPUs, as dra-driver-cpu publishes them in its mode
// "individual". Slurm counts them as CPUs, not as GRES: a job has at least as
// many CPUs as the claims of its Pods have such devices. The CPU numbers that
// Slurm chose are only a preference: on an external node nothing but the claim
// binds a container to cores. If a claim still has a device that the job was
// given, another, equivalent device of the node is used instead, and the job
// need not be given back. Pure.
#pragma once

#include "agent/claims/pools.h"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace bridge {

// The CPU devices of each Node, by the name of the Kubernetes Node. Device
// number n is Slurm's CPU n of an external node: reserved CPUs have no device,
// and no number in Slurm.
using NodeCpus = std::map<std::string, std::vector<DevicePtr>>;

// Sorts by name with numbers compared as numbers: cpudev9 before cpudev10.
// dra-driver-cpu numbers the devices in this order: by CPU id, with the
// hyperthreads of a core together.
void sort_cpus(std::vector<DevicePtr> &cpus);

// The devices of a node that a job may take, best first.
struct CpuOffer {
    // First the free ones that Slurm gave to the job, then other free ones,
    // then those that claims still have.
    std::vector<DevicePtr> devices;
    std::size_t own = 0;  // number of free devices that Slurm gave to the job
    std::size_t free = 0; // number of free devices: own and others
};

// Returns the devices of one node for a job. ids: Slurm's numbers of the job's
// CPUs on that node.
CpuOffer offer_cpus(const std::vector<DevicePtr> &cpus,
                    std::span<const std::uint32_t> ids,
                    const std::function<bool(const DeviceId &)> &is_taken);

} // namespace bridge
