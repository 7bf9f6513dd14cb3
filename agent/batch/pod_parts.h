// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of batch_pod_body(): the command of a batch job's container, its
// volumes, and the Pod's host name. Pure functions.
#pragma once

#include "agent/gang/batch_mark.h"
#include "common/base/edited_json.h"
#include "common/contract/batch_script.h"

#include <string>

namespace bridge {

// The role of a Pod in its job.
struct Part {
    bool worker = false;
    bool several = false; // the job has several nodes
    bool srun = false;    // this Pod has the srun program
};

// Sets the command and the mounts of the container. batch is on_node() for the
// Pod's node.
void add_command(Edited &container, const BatchJob &batch,
                 const BatchScript &script, Part part);

// Adds the volumes for those mounts. first is the name of the Pod that runs the
// script. srun is the ConfigMap with the program, if the Pod has it.
void add_volumes(Edited &spec, const BatchScript &script, Part part,
                 const std::string &first, const std::string &srun);

// Sets the host name and the DNS search path, so that the Pods of a job of
// several nodes resolve by the names of their Slurm nodes where the cluster has
// DNS. hostAliases would need IP addresses, which are not known yet.
void name_host(Edited &spec, const std::string &node, const std::string &first,
               const std::string &ns, const std::string &domain);

} // namespace bridge
