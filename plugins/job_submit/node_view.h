// SPDX-License-Identifier: GPL-2.0-or-later
// Where ordinary jobs can start: on nodes with a slurmd, which external nodes,
// made for Kubernetes Pods, are not. Pure: what Slurm's public API says of
// partitions and nodes in, sentences for the user out.
#pragma once

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

// The names in a hostlist.
using ExpandHostlist =
    std::function<std::vector<std::string>(const char *hostlist)>;

struct PartitionView {
    bool has_slurmd = false; // any of its nodes
    bool has_external = false;
    std::set<std::string> features; // k8s…, of its nodes with a slurmd
};

struct NodeView {
    std::map<std::string, PartitionView> partitions;
    std::string default_partition;
    std::set<std::string> external; // names of nodes
};

NodeView view_of(const partition_info_msg_t &partitions,
                 const node_info_msg_t &nodes, const ExpandHostlist &expand);

// What a job, or the update of one, says of its place. Empty is nothing.
struct PlaceWish {
    std::string partitions;         // comma separated
    std::vector<std::string> nodes; // some of which it must have, or all
    std::optional<std::uint32_t> node_count; // at least
    std::string features;
};

// Of a new job: what it leaves out is the default partition.
PlaceWish submit_wish(const job_desc_msg_t &desc, const NodeView &view,
                      const ExpandHostlist &expand);
// Of an update: what it leaves out stays as it was, and is not known here.
PlaceWish modify_wish(const job_desc_msg_t &desc, const ExpandHostlist &expand);

// Why an ordinary job can never start there, if that is sure. What is not sure,
// such as a partition that is not known, slurmctld itself has a word for.
std::optional<std::string> refuse_place(const PlaceWish &wish,
                                        const NodeView &view);

// The same of its features. Those come and go, as after a start of slurmctld:
// believe it only of a view that was made since.
std::optional<std::string> refuse_features(const PlaceWish &wish,
                                           const NodeView &view);

} // namespace bridge
