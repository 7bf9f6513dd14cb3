// SPDX-License-Identifier: GPL-2.0-or-later
// What the container of a batch job's Pod runs, what it finds there, and its
// name: parts of batch_pod_body(). Pure.
#pragma once

#include "agent/gang/batch_mark.h"
#include "common/base/edited_json.h"
#include "common/contract/batch_script.h"

#include <string>

namespace bridge {

// What a Pod is to its job.
struct Part {
    bool worker = false;
    bool several = false; // the job has several nodes
    bool srun = false;    // and this one the program
};

// Command and mounts. batch: on_node() of the Pod's.
void add_command(Edited &container, const BatchJob &batch,
                 const BatchScript &script, Part part);

// What these mounts are of. first: the name of the Pod that runs the script;
// srun: the ConfigMap with that program, where the Pod has it.
void add_volumes(Edited &spec, const BatchScript &script, Part part,
                 const std::string &first, const std::string &srun);

// The Pods of a job of several nodes resolve by the names of their nodes, where
// the cluster has a DNS. hostAliases would need addresses, which nobody knows
// yet.
void name_host(Edited &spec, const std::string &node, const std::string &first,
               const std::string &ns, const std::string &domain);

} // namespace bridge
