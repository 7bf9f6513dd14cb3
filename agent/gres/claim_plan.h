// SPDX-License-Identifier: GPL-2.0-or-later
// Which of the devices that Slurm gave to a job on a node each request gets, of
// the claims of the Pods that go there, and what has to be written before these
// are bound. Pure.
#pragma once

#include "agent/claims/cpu_devices.h"
#include "agent/gres/needs.h"
#include "common/base/uuid.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace bridge {

// One claim that is to be written, unless it is as it should be.
struct ClaimPlan {
    ObjectKey key;
    std::string uid;
    bool allocated = false; // it is: the Pod only becomes one of its consumers
    std::vector<ChosenDevice> chosen; // else; in the order of its requests
    std::map<DeviceId, Capacities> shares{}; // what it consumes of shared ones
    DeviceClasses classes;                   // those of its requests
    std::vector<DeviceId> has{};             // of one that is allocated: which
    std::string pod{};                       // uid, of the consumer
    // Of the one for extended resources: what makes it, or empty, it is there;
    // and what the Pod's status says of it before the binding.
    std::string body{};
    std::vector<RequestMapping> mappings{};
    // What the watch has told of it, which may be old by now; empty: to be
    // read.
    std::string text{};

    std::vector<DeviceId> devices() const; // those that it takes
};

struct ClaimsPlan {
    // Why this allocation is none for the Pods, which need another job; empty:
    // it is one.
    std::string misfit = {};
    bool bad_node = false; // another node is needed, too
    // Why nothing can be written right now; empty: it can.
    std::string wait = {};
    std::vector<ClaimPlan> claims = {}; // all, also where nothing is to be done
};

struct PlanFacts {
    const DeviceNeeds &needs;     // of all these Pods
    std::vector<DevicePtr> given; // of the GRES that claims are answered with
    CpuOffer cpus = {};           // that CPU devices are taken from
    // Not all that are given need be taken: the Pods' owner has asked Slurm for
    // GRES, too, or the job has room for other Pods.
    bool may_exceed = false;
    const DeviceClasses &classes;
    std::span<const DevicePool> pools;
    const Node &node;
    // Which claim but that of the uid has the device; nothing: none.
    std::function<std::optional<std::string>(const DeviceId &,
                                             const std::string &uid)>
        holder_of;
    // The names of the devices of a pool that some claim has.
    std::function<std::set<std::string>(const DevicePool &)> taken_in;
    // Of devices that are given in shares: which Slurm counts, and by which
    // GRES; how many of these the job has here, where this node has any; and
    // what shares consume but for those of claims (uids):
    // ClaimStore::consumed_of().
    std::vector<CapacityGres> counted{};
    GresCounts amounts{};
    std::function<std::optional<Capacities>(const DeviceId &,
                                            const std::set<std::string> &)>
        consumed_of{};
    std::function<std::string()> new_share_id = new_uuid;
};

// Only for needs without an objection or a reason to wait. Of a claim that is
// yet to be made the uid is uid_until_made().
ClaimsPlan plan_claims(const PlanFacts &facts);

} // namespace bridge
