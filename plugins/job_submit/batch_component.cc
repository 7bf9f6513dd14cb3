// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/batch_component.h"

#include "plugins/job_submit/job_desc.h"

namespace bridge {

std::optional<std::string> component_refusal_reason(
    const job_desc_msg_t &desc, const std::optional<BatchWish> &said,
    const std::optional<HetLeader> &leader, const Conf &conf)
{
    if (!leader)
        return "Either all components of a heterogeneous job run as Pods or "
               "none: give --k8s-image before the first \":\".";
    if (leader->user_id != desc.user_id ||
        leader->components != desc.het_job_offset)
        return "The components of a heterogeneous job arrived out of order.";
    if (said && said != leader->said)
        return "All components of a heterogeneous job have the options --k8s-… "
               "of the first: give them before the first \":\".";
    if (std::uint64_t{leader->nodes} + most_nodes(desc) > conf.max_gang_size)
        return "--nodes: the components of a job with --k8s-image may have " +
               std::to_string(conf.max_gang_size) +
               " nodes in all (MaxGangSize in k8s.conf).";
    return std::nullopt;
}

} // namespace bridge
