// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of a gang's ResourceClaims when it is decided what to do next.
// Values only.
#pragma once

#include "agent/gres/claim_plan.h"
#include "agent/objects/objects.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// A claim that names a Pod as its consumer.
struct ClaimHold {
    ObjectKey key;
    std::string uid;
    std::string pod = {}; // uid
    bool remove = false;  // it was made for that Pod by us
};

struct GangDevices {
    std::string objection = {}; // why it never can; empty: it may
    std::string why = {};       // why it has to wait before a job is asked for
    std::string gres = {}; // what each task of a job needs: see task_gres()
    // By uid, of Pods with CPU devices: the CPUs that each needs of its job,
    // for its claims and its requests together; and whether these are yet to be
    // chosen, on a node that has some.
    std::map<std::string, std::uint32_t> cpus = {};
    bool on_cpu_nodes = false;
    // Reserved for a Pod that has no node and no job that could give it one: of
    // an earlier job, to be taken back.
    std::vector<ClaimHold> left = {};
    // Its job is allocated, and which GRES it has got is not read yet.
    bool unread = false;
    // What its Pods have got was not listed since the start, or not counted by
    // a sync of the nodes, or nobody has said yet whether we may.
    bool unknown = false;
    // For the nodes of its job. Of a grouped one without what concerns those
    // Pods (uids) that cannot have their devices now: why the first cannot it
    // says.
    ClaimsPlan plan = {};
    std::set<std::string> not_now = {};
    std::string node = {}; // Kubernetes' name, of the one that plan calls bad
};

using GangDevicesPtr = std::shared_ptr<const GangDevices>;

} // namespace bridge
