// SPDX-License-Identifier: GPL-2.0-or-later
// A World in which batch jobs of one node are submitted.
#pragma once

#include "tests/unit/flows/script_world.h"

#include <doctest/doctest.h>
#include <string>
#include <utility>

namespace bridge {

struct BatchWorld : ScriptWorld {
    JobRef submit(std::uint32_t script_user = user, BatchScript batch = {})
    {
        put_script(std::move(batch), script_user);
        return slurm.plant(job_of_script());
    }
    // And once it has a node.
    JobRef run() { return scheduled(submit()); }
    std::string pod_name() const
    {
        REQUIRE(kube.pods().size() == 1);
        return kube.pods().front().key.name;
    }
    std::string secret() const { return kube.secret({"default", pod_name()}); }
    void check_runs(JobRef job) const
    {
        CHECK(record(job).job.state == JobState::running);
        CHECK(slurm.living().size() == 1);
        Pod pod = kube.pods().front();
        CHECK(kube.pods().size() == 1);
        CHECK(pod.node_name == record(job).job.nodes.front());
        CHECK(binder_of(pod) == job);
        CHECK(record(job).job.tag.uid == pod.uid);
        CHECK(secret().contains(pod.uid));
        CHECK(has_script());
    }
};

} // namespace bridge
