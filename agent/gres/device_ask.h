// SPDX-License-Identifier: GPL-2.0-or-later
// What the claims of a gang's Pods ask of the devices of each of its nodes,
// beyond what GRES say: a GRES says of which class a device is, and not which
// attributes it has. Becomes part of the gang's predicate, so that Slurm is
// never asked for a job on nodes whose devices can never satisfy the claims.
// Pure.
//
//   a Pod's claims ask for                         a condition on the node
//   ---------------------------------------------  -----------------------
//   devices of which any one of their GRES fits    none
//   other devices; a constraint between devices    yes
//   a type of GRES that the job cannot request     yes
//   adminAccess, which Slurm does not count        yes
//   nothing: they have their devices               none
#pragma once

#include "agent/gres/needs.h"
#include "agent/objects/predicate.h"

#include <string>
#include <vector>

namespace bridge {

struct DeviceAsk {
    // What the claims of one Pod each need, without claims that have devices. A
    // Node has to satisfy one of these.
    std::vector<DeviceNeeds> any_of;
};

// Returns the condition on each node of a job for Pods with these needs. Empty:
// one of the Pods can be on any node that has its GRES. Equal requests have
// equal conditions, whatever the names of their claims.
DeviceCondition device_condition(const std::vector<DeviceNeeds> &pods);

// Returns what the claims ask for, for a message, such as "the ResourceClaim c
// (request gpu: 2 devices of DeviceClass gpu.example.com)". "": nothing.
std::string asked_words(const DeviceNeeds &needs);

} // namespace bridge
