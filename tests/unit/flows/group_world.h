// SPDX-License-Identifier: GPL-2.0-or-later
// Worlds with objects beside the Pods that say the size of a gang: a PodGroup
// or a JobSet.
#pragma once

#include "tests/unit/flows/gang_world.h"

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <string>

namespace bridge {

class GroupWorld : public GangWorld<> {
  public:
    explicit GroupWorld(GroupApi its_api = GroupApi::workload) : api(its_api)
    {
        group_apis = apis_there = {GroupApi::plugins, GroupApi::workload,
                                   GroupApi::jobset};
        start_agent();
    }

    Pod member(int i, int cpus = 2) const
    {
        Pod pod = make_pod(name(i), MilliCpu{cpus * 1000});
        TextMap labels;
        if (api == GroupApi::plugins)
            labels[plugins_group_label] = "g";
        if (api == GroupApi::jobset)
            labels = {{names::jobset_uid_label, "u-1"},
                      {names::jobset_name_label, "g"},
                      {names::jobset_attempt_label, "0"}};
        pod.gang = gang_key(pod.key, {}, labels, {},
                            api == GroupApi::workload ? "g" : "");
        return pod;
    }
    GroupSpec group(std::uint32_t minimum, const std::string &uid = "u-1") const
    {
        GroupSpec spec;
        spec.api = api;
        spec.key = {"default", "g"};
        spec.uid = uid;
        spec.resource_version = "1";
        spec.minimum = minimum;
        spec.size = std::max(1u, minimum);
        spec.elastic = api != GroupApi::jobset;
        return spec;
    }
    void create_pods(int from, int to, int cpus = 2)
    {
        for (int i = from; i < to; i++)
            create(member(i, cpus));
    }
    void drain_all()
    {
        for (const Node &node : World::nodes)
            slurm.set_drained(node.name, "test");
    }
    std::string group_status() const // of the only one
    {
        const PodGroupStatus &said = groups.front().status;
        return said.phase + " " + std::to_string(said.running) + " " +
               std::to_string(said.succeeded) + " " +
               std::to_string(said.failed);
    }
    const FakeSlurm::Record &job_of_group() const
    {
        for (const auto &[id, record] : slurm.jobs())
            if (!record.job.tag.group.empty() && !is_ended(record.job.state))
                return record;
        FAIL("the group has no job");
        return slurm.jobs().begin()->second;
    }

    GroupApi api;
};

} // namespace bridge
