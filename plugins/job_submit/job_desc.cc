// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/job_desc.h"

#include <algorithm>

namespace bridge {

bool given(const char *text)
{
    return text && *text;
}

bool has_signal(const job_desc_msg_t &desc)
{
    return desc.warn_signal != 0 && desc.warn_signal != NO_VAL16;
}

bool is_array(const job_desc_msg_t &desc)
{
    return given(desc.array_inx);
}

bool is_heterogeneous(const job_desc_msg_t &desc)
{
    return desc.het_job_offset != NO_VAL;
}

bool is_component(const job_desc_msg_t &desc)
{
    return is_heterogeneous(desc) && desc.het_job_offset != 0;
}

std::uint32_t most_nodes(const job_desc_msg_t &desc)
{
    std::uint32_t most = 1;
    for (std::uint32_t nodes : {desc.min_nodes, desc.max_nodes})
        if (nodes != NO_VAL)
            most = std::max(most, nodes);
    return most;
}

bool has_several_nodes(const job_desc_msg_t &desc)
{
    return most_nodes(desc) > 1;
}

} // namespace bridge
