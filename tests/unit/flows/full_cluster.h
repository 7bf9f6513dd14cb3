// SPDX-License-Identifier: GPL-2.0-or-later
// Pods that have to wait, because others have all nodes.
#pragma once

#include "tests/unit/fakes/world.h"

#include <chrono>
#include <string>

namespace bridge {

inline Pod large_pod(const std::string &name)
{
    return make_pod(name, MilliCpu{16000}); // a whole node
}

// Both nodes are taken by others.
inline void fill_cluster(World &world)
{
    JobDescription job;
    job.features = "k8s";
    job.cpus_per_task = 16;
    job.memory_per_node = MebiBytes{1};
    for (int i = 0; i < 2; i++)
        world.slurm.plant(job);
    world.slurm.schedule();
}

struct FullCluster : World {
    explicit FullCluster(std::chrono::seconds reason_interval)
    {
        conf.reason_interval = reason_interval;
        start_agent();
        fill_cluster(*this);
    }
};

} // namespace bridge
