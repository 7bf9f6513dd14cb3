// SPDX-License-Identifier: GPL-2.0-or-later
// A ClaimWorld in which batch jobs with GRES are submitted.
#pragma once

#include "common/contract/batch_script.h"
#include "common/contract/script_dir.h"
#include "tests/unit/fakes/store_script.h"
#include "tests/unit/fakes/temporary_directory.h"
#include "tests/unit/flows/claim_world.h"

#include <cstdint>
#include <string>

namespace bridge {

struct BatchClaimWorld : ClaimWorld {
    static constexpr std::uint32_t user = 1; // daemon, which every system has

    TemporaryDirectory directory;
    ScriptDir scripts{directory.path};

    explicit BatchClaimWorld(int node_count = 2) : ClaimWorld(node_count)
    {
        conf.batch_namespace = "default";
        scripts_dir = directory.path;
        start_agent();
        settle();
    }

    JobDescription describe(const std::string &gres)
    {
        BatchScript batch{.user_id = user, .group_id = user};
        batch.image = "busybox";
        batch.script = "#!/bin/sh\n";
        JobDescription job;
        job.user_id = job.group_id = user;
        job.features = "k8s";
        job.memory_per_node = MebiBytes{100};
        job.gres_per_task = gres;
        job.tag.script = store_script(scripts, encode(batch)).value();
        return job;
    }
    JobRef run(const std::string &gres)
    {
        JobRef made = slurm.plant(describe(gres));
        slurm.schedule();
        pass(std::chrono::seconds(5));
        return made;
    }
};

} // namespace bridge
