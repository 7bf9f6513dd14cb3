// SPDX-License-Identifier: GPL-2.0-or-later
// A plain batch job of the partition main and a partition burst that takes it,
// for the tests of bursting.
#pragma once

#include "plugins/job_submit/burst_fit.h"

#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// Hostlists of tests are plain lists: "n1,n2".
inline std::vector<std::string> plain_hosts(const char *hostlist)
{
    std::vector<std::string> nodes;
    for (auto part :
         std::views::split(std::string_view(hostlist ? hostlist : ""), ','))
        if (!part.empty())
            nodes.emplace_back(part.begin(), part.end());
    return nodes;
}

inline char *text_of(const char *text)
{
    return const_cast<char *>(text); // job_desc_msg_t has no const
}

inline PartitionView open_partition(std::uint32_t nodes, SlurmdSize size)
{
    PartitionView view;
    view.has_slurmd = nodes != 0;
    view.limits.up = true;
    view.limits.total_nodes = nodes;
    view.limits.total_cpus = nodes * size.cpus;
    if (nodes)
        view.limits.sizes[size] = nodes;
    return view;
}

struct BurstBed {
    job_desc_msg_t desc;
    NodeView view;
    BurstFacts facts;
    Membership in_groups = Membership::yes; // of AllowGroups=staff
    bool same_association = true;

    BurstBed()
    {
        slurm_init_job_desc_msg(&desc);
        desc.het_job_offset = NO_VAL; // by slurmctld
        desc.script = text_of("#!/bin/sh\n");
        desc.partition = text_of("main");
        desc.alloc_node = text_of("login1");
        desc.user_id = 1001;
        desc.min_nodes = 1;
        desc.num_tasks = 1;
        desc.min_cpus = 1;
        view.default_partition = "main";
        view.partitions["main"] =
            open_partition(4, {16, 64000, "native,ib", ""});
        view.partitions["burst"] =
            open_partition(2, {8, 32000, "w,k8s", "gpu:a100:2(S:0),nic:1"});
        facts.enforces_all = true;
        facts.enforces_accounts = true;
        facts.accounts = {"physics", "science", "root"};
        facts.qos = "normal";
        facts.expand = plain_hosts;
        facts.in_groups = [this](std::span<const std::string> groups) {
            return groups.size() == 1 && groups[0] == "staff" ? in_groups
                                                              : Membership::no;
        };
        facts.same_association = [this](const std::string &) {
            return same_association;
        };
    }
    BurstBed(const BurstBed &) = delete;

    PartitionLimits &burst() { return view.partitions["burst"].limits; }
    PartitionLimits &own() { return view.partitions["main"].limits; }

    // "" is yes.
    std::string judge() const
    {
        return unfit_reason(desc, view.partitions.at("main"), "burst",
                            view.partitions.at("burst"), facts);
    }
};

} // namespace bridge
