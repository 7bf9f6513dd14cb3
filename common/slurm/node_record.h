// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's records of its nodes. For files that include slurm.h.
#pragma once

#include "common/base/result.h"
#include "common/slurm/strings.h"

#include <cstdint>
#include <optional>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

using NodeInfo = SlurmPtr<node_info_msg_t, slurm_free_node_info_msg>;

// Returns the records of all nodes, or nothing if none has changed since as_of,
// by slurmctld's clock; 0: in any case. show: flags of slurm.h beside SHOW_ALL.
// what: for the message of an error. Blocks for one RPC. Codes as in api.h.
Result<std::optional<NodeInfo>>
load_node_records(std::int64_t as_of, std::uint16_t show, const char *what);

// Calls visit with each record.
template <class Visit> void for_each_node(const NodeInfo &info, Visit visit)
{
    for (std::uint32_t i = 0; i < info->record_count; i++)
        if (info->node_array[i].name) // a deleted node leaves an empty entry
            visit(info->node_array[i]);
}

} // namespace bridge
