// SPDX-License-Identifier: GPL-2.0-or-later
// A NodesWorld in which slurmctld crashes, and places jobs anew.
#pragma once

#include "common/base/json.h"
#include "tests/unit/fakes/decoded.h"
#include "tests/unit/flows/batch_nodes_world.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

struct AnewWorld : NodesWorld {
    using Nodes = std::vector<std::string>;

    // slurmctld crashes, and has the job on these nodes when it is back.
    void crash_to(JobRef job, const Nodes &there, bool keeps_tag)
    {
        cut_socket();
        if (keeps_tag)
            slurm.unallocate(job.id);
        else
            slurm.forget_allocation(job.id);
        slurm.reallocate(job.id, there);
        connect_socket();
    }
    // The same right after the first Pod of the job was made, while what makes
    // it goes on with what it knows.
    void crash_while_made(JobRef job, const Nodes &there)
    {
        kube.on_change([this, job, there, crashed = false](const Pod &pod,
                                                           bool gone) mutable {
            if (!std::exchange(crashed, true))
                crash_to(job, there, false);
            deliver(Changed<Pod>{pod, gone});
        });
    }
    std::size_t living() const
    {
        return static_cast<std::size_t>(std::ranges::count_if(
            kube.pods(), [](const Pod &pod) { return pod.living(); }));
    }
    // What runs the script, with all that it is told.
    std::string launcher(const ObjectKey &pod) const
    {
        auto body = Json::parse(kube.secret(pod));
        REQUIRE(body);
        return decoded(body->text("data/run"));
    }
    // It runs on these nodes, with Pods that were made for them, is told of
    // them, and no other is left.
    void check_runs_on(JobRef job, const Nodes &there) const
    {
        CHECK(record(job).job.nodes == there);
        if (there.size() > 1)
            check_runs(job);
        else
            check_runs_alone(job);
        REQUIRE_FALSE(kube.pods().empty());
        ObjectKey first = kube.pods().front().key;
        if (there.size() > 1)
            first.name = name_of(0);
        std::string all;
        for (const std::string &node : there)
            all += (all.empty() ? "" : ",") + node;
        CHECK(launcher(first).contains("SLURM_JOB_NODELIST=" + all + "'"));
    }
    void check_runs_alone(JobRef job) const
    {
        CHECK(record(job).job.state == JobState::running);
        REQUIRE(kube.pods().size() == 1);
        Pod pod = kube.pods().front();
        CHECK(is_made_for(pod, record(job).job));
        CHECK(pod.node_name == record(job).job.nodes.front());
        CHECK(pod.requests.cpu.value == 1000 * record(job).job.cpus);
        CHECK(record(job).job.tag.uid == pod.uid);
        CHECK(kube.secret(pod.key).contains(pod.uid));
    }
    // As an agent made it that was before Pods of one node say which.
    void forget_place()
    {
        REQUIRE(kube.pods().size() == 1);
        kube.change(kube.pods().front().key, [](Pod &pod) {
            pod.annotations.erase(names::batch_place_annotation);
        });
        settle();
    }
    // Of one node, and with all that it has.
    JobRef submit_exclusive()
    {
        put_script();
        JobDescription job = job_of_script();
        job.sharing = Sharing::nobody;
        return slurm.plant(job);
    }
    // On nodes of which the first are free.
    JobRef submit_on(const Nodes &there)
    {
        JobRef job = submit(static_cast<std::uint32_t>(there.size()));
        slurm.schedule();
        REQUIRE(record(job).job.nodes == there);
        return job;
    }
    // Likewise; its Pods are made, its tag names them, and no call after that
    // goes on.
    JobRef submit_and_hang(const Nodes &there)
    {
        JobRef job = submit_on(there);
        while (slurm.count("set_tag") == 0)
            step(1);
        calls_hang = true; // the binding above all
        settle();
        return job;
    }
    // Its workers are bound, and the Pod of the script waits.
    JobRef submit_half_bound()
    {
        JobRef job = submit_on({"kn1", "kn2", "kn3"});
        while (kube.count("bind") < 2)
            step(1);
        kube.fail_next("bind", Code::busy);
        settle();
        REQUIRE(pod_of(1).bound());
        REQUIRE(pod_of(2).bound());
        REQUIRE_FALSE(pod_of(0).bound());
        return job;
    }
};

} // namespace bridge
