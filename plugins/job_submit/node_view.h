// SPDX-License-Identifier: GPL-2.0-or-later
// Where ordinary jobs can start: on nodes with a slurmd. External nodes, which
// stand for Kubernetes Nodes, have none. Pure: partitions and nodes from
// Slurm's public API in, messages for the user out.
#pragma once

#include "plugins/job_submit/partition_limits.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// Returns the names in a hostlist.
using ExpandHostlist =
    std::function<std::vector<std::string>(const char *hostlist)>;

struct PartitionView {
    bool has_slurmd = false; // at least one node has one
    bool has_external = false;
    std::set<std::string> features; // features k8s… of its nodes with slurmd
    PartitionLimits limits{};
};

struct NodeView {
    std::map<std::string, PartitionView> partitions;
    std::string default_partition;
    std::set<std::string> external; // names of external nodes
};

// refusing_qos: as for limits_of().
NodeView view_of(const partition_info_msg_t &partitions,
                 const node_info_msg_t &nodes, const ExpandHostlist &expand,
                 const std::set<std::string> &refusing_qos = {});

// Where a job, or the update of a job, is to run. Empty means not given.
struct PlaceWish {
    std::string partitions;                  // separated by commas
    std::vector<std::string> nodes;          // requested nodes
    std::optional<std::uint32_t> node_count; // the least number
    std::string features;
};

// For a new job: without a partition it gets the default one.
PlaceWish submit_wish(const job_desc_msg_t &desc, const NodeView &view,
                      const ExpandHostlist &expand);
// For an update: what it does not mention stays as it was, and is not known
// here. A hostlist of more than 16 KiB is left to slurmctld, which judges such
// a job alone.
PlaceWish modify_wish(const job_desc_msg_t &desc, const ExpandHostlist &expand);

// Returns the reason for which an ordinary job can certainly never start there.
// Doubtful cases, such as an unknown partition, are left to slurmctld.
std::optional<std::string> place_refusal_reason(const PlaceWish &wish,
                                                const NodeView &view);

// The same for features. They may be missing temporarily, as after a start of
// slurmctld: use the result only with a view that is newer than the request.
std::optional<std::string> features_refusal_reason(const PlaceWish &wish,
                                                   const NodeView &view);

} // namespace bridge
