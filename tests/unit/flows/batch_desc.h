// SPDX-License-Identifier: GPL-2.0-or-later
// A batch job with --k8s-image as slurmctld shows it to job_submit/k8s.
#pragma once

#include "common/contract/conf.h"

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

inline char script[] = "#!/bin/sh\nhostname\n";
inline char text[] = "anything";

using Desc = job_desc_msg_t;

// As sbatch sends it; the values that matter here.
inline Desc batch_job()
{
    Desc desc{};
    desc.script = script;
    desc.user_id = 1001;
    desc.group_id = 1001;
    desc.het_job_offset = NO_VAL;
    desc.min_nodes = desc.max_nodes = NO_VAL;
    desc.requeue = NO_VAL16;
    desc.kill_on_node_fail = NO_VAL16;
    return desc;
}

inline Conf conf()
{
    Conf conf;
    conf.batch_namespace = "slurm-jobs";
    return conf;
}

} // namespace bridge
