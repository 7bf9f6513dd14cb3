// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/worker_set.h"

namespace bridge {

WorkerSet worker_set_from(const Json &node_set)
{
    Json metadata = node_set.at("metadata");
    WorkerSet set;
    set.key = {metadata.text("namespace"), metadata.text("name")};
    set.uid = metadata.text("uid");
    set.controller = node_set.text("spec/controllerRef/name");
    set.replicas = node_set.integer("spec/replicas").value_or(1);
    set.ending = !metadata.text("deletionTimestamp").empty();
    set.potential = read_potential_workers(
        metadata.at("annotations").member(names::potential_annotation).text());
    return set;
}

} // namespace bridge
