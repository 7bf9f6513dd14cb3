// SPDX-License-Identifier: GPL-2.0-or-later
// A World in which batch jobs are submitted: what those of one node, of several
// and of an array have in common.
#pragma once

#include "agent/gang/batch_mark.h"
#include "common/contract/batch_script.h"
#include "common/contract/script_dir.h"
#include "tests/unit/fakes/store_script.h"
#include "tests/unit/fakes/temporary_directory.h"
#include "tests/unit/fakes/world.h"

#include <cstdint>
#include <string>

namespace bridge {

struct ScriptWorld : World {
    static constexpr std::uint32_t user = 1; // daemon, which every system has

    TemporaryDirectory directory;
    ScriptDir scripts{directory.path};
    std::string script; // the name of the last file

    ScriptWorld()
    {
        conf.batch_namespace = "default";
        scripts_dir = directory.path;
        slurm.says_cpus = true;
    }

    // As job_submit/k8s leaves it.
    void put_script(BatchScript batch = {}, std::uint32_t script_user = user)
    {
        batch.user_id = script_user;
        batch.group_id = user;
        batch.image = "busybox";
        batch.script = "#!/bin/sh\nhostname\n";
        script = store_script(scripts, encode(batch)).value();
    }
    // The job with that script, as sbatch leaves it; of one node.
    JobDescription job_of_script() const
    {
        JobDescription job;
        job.name = "job.sh";
        job.user_id = job.group_id = user;
        job.features = "k8s";
        job.time_limit = 2880;
        job.memory_per_node = MebiBytes{100};
        job.tag.script = script;
        return job;
    }
    // That job, once it has its nodes, and all that follows.
    JobRef scheduled(JobRef job)
    {
        slurm.schedule();
        settle();
        return job;
    }
    // slurmctld crashes, and has forgotten this job.
    void lose(JobRef job)
    {
        cut_socket();
        slurm.purge(job.id);
        connect_socket();
    }
    bool has_script() const { return scripts.read(script).has_value(); }
    const FakeSlurm::Record &record(JobRef job) const
    {
        return slurm.job(job.id);
    }
    JobState state(JobRef job) const { return record(job).job.state; }
};

} // namespace bridge
