// SPDX-License-Identifier: GPL-2.0-or-later
// The configuration of a cluster whose slurmctld the operator runs: slurm.conf
// and what lies beside it. The same objects give the same text. Pure.
#pragma once

#include "operator/decide/objects.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bridge::slinky {

// What a running slurmctld must not lose, from one text to the next. It is kept
// on the ConfigMap.
struct ConfMemory {
    std::int64_t max_nodes = 0;          // a smaller value would end jobs
    std::vector<std::string> partitions; // of NodeSets, also of deleted ones
};

ConfMemory conf_memory(const Known &known, const Controller &controller);

// File names, and what is in them. scripts: lines of slurm.conf that name the
// site's scripts.
TextMap conf_files(const Known &known, const Controller &controller,
                   const ConfMemory &memory, const std::string &scripts = {});

} // namespace bridge::slinky
