// SPDX-License-Identifier: GPL-2.0-or-later
// A World in which batch jobs of several nodes are submitted.
#pragma once

#include "agent/gang/batch_place.h"
#include "common/base/hexadecimal.h"
#include "tests/unit/flows/script_world.h"

#include <doctest/doctest.h>
#include <string>

namespace bridge {

struct NodesWorld : ScriptWorld {
    bool has_key = true; // the script was written by this version

    NodesWorld() { nodes.push_back(make_node("kn3")); }

    // As sbatch and job_submit/k8s leave it; of four tasks.
    JobRef submit(std::uint32_t nodes_asked = 3)
    {
        BatchScript batch;
        if (nodes_asked > 1 && has_key)
            batch.step_key = random_hexadecimal(32);
        put_script(batch);
        JobDescription job = job_of_script();
        job.min_nodes = job.max_nodes = nodes_asked;
        job.tasks = 4;
        job.cpus_per_task = 2;
        return slurm.plant(job);
    }
    JobRef run() { return scheduled(submit()); }
    JobRef run_all()
    {
        JobRef job = run();
        for (const Pod &one : kube.pods())
            run_containers(one.key.name);
        return job;
    }
    std::string name_of(std::uint32_t rank) const
    {
        for (const Pod &one : kube.pods())
            if (auto place = batch_place(one); place && place->rank == rank)
                return one.key.name;
        return {};
    }
    Pod pod_of(std::uint32_t rank) const
    {
        auto found = kube.find({"default", name_of(rank)});
        REQUIRE(found);
        return *found;
    }
    std::string secret() const { return kube.secret({"default", name_of(0)}); }
    // Each Pod on its node, once; and Slurm knows of no other job.
    void check_runs(JobRef job) const
    {
        const Job &shown = record(job).job;
        CHECK(shown.state == JobState::running);
        CHECK(slurm.jobs().size() == 1);
        REQUIRE(kube.pods().size() == shown.nodes.size());
        for (std::uint32_t rank = 0; rank < shown.nodes.size(); rank++) {
            CAPTURE(rank);
            Pod pod = pod_of(rank);
            CHECK(pod.node_name == shown.nodes[rank]);
            CHECK(binder_of(pod) == job);
            CHECK(pod.annotation("slurmk8s/rank") == std::to_string(rank));
            CHECK(batch_place(pod)->first == (rank ? pod_of(0).uid : ""));
        }
        CHECK(shown.tag.first == pod_of(0).uid);
        CHECK(secret().contains(pod_of(0).uid));
        CHECK(has_script());
    }
    // The workers' Pods are told to go, and do.
    void check_workers_go()
    {
        for (std::uint32_t rank : {1u, 2u}) {
            CAPTURE(rank);
            if (name_of(rank).empty())
                continue;
            CHECK(pod_of(rank).deleting);
            finish_deletion(name_of(rank));
        }
        settle();
    }
    void check_over(JobRef job, JobState state)
    {
        check_workers_go();
        CHECK(record(job).job.state == state);
        CHECK_FALSE(record(job).epilog_held);
        CHECK(slurm.jobs().size() == 1);
        CHECK(secret().empty());
        CHECK_FALSE(has_script());
        CHECK(kube.pods().size() == 1); // for its logs
    }
};

} // namespace bridge
