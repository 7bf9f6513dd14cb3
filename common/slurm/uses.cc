// SPDX-License-Identifier: GPL-2.0-or-later
// The part of SlurmApi for jobs that need nodes, and for shadow jobs.
#include "common/slurm/api.h"
#include "common/slurm/error.h"
#include "common/slurm/gres_counts.h"
#include "common/slurm/job_record.h"
#include "common/slurm/shadow_partitions.h"
#include "common/slurm/states.h"
#include "common/slurm/strings.h"
#include "common/slurm/submitted.h"

#include "common/contract/names.h"

#include <algorithm>
#include <cerrno>
#include <format>
#include <iterator>
#include <map>
#include <unistd.h>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
}

namespace bridge {

namespace {

// Returns only the GRES that were requested with a type, as ours are.
std::map<std::string, std::uint32_t> typed_gres(const std::string &asked)
{
    std::map<std::string, std::uint32_t> counts;
    for (const auto &[kind, count] : asked_gres(asked))
        if (kind.contains(':'))
            counts[kind] = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(count, UINT32_MAX));
    return counts;
}

std::string gres_text(const std::map<std::string, std::uint32_t> &counts)
{
    std::string text;
    for (const auto &[kind, count] : counts)
        text +=
            std::format("{}gres/{}:{}", text.empty() ? "" : ",", kind, count);
    return text;
}

NodeUse use_of(const slurm_job_info_t &info)
{
    NodeUse use;
    use.job = {info.step_id.job_id, Sluid{info.step_id.sluid}};
    use.over = is_ended(job_state_of(info.job_state));
    use.pending = job_state_of(info.job_state) == JobState::pending;
    use.external = (info.bitflags & EXTERNAL_JOB) != 0;
    use.named = expand(info.req_nodes);
    if (use.over)
        return use;
    // It has its nodes, although slurmctld shows them as idle.
    if (job_state_of(info.job_state) == JobState::suspended)
        for (std::string &node : expand(info.nodes))
            use.named.push_back(std::move(node));
    use.features = text(info.features);
    use.partitions = text(info.partition);
    use.in_line = use.pending && info.priority != 0 &&
                  (info.state_reason == WAIT_RESOURCES ||
                   info.state_reason == WAIT_PRIORITY);
    use.time_limit = info.time_limit;
    if (auto node = decode_shadow(text(info.admin_comment))) {
        use.shadow_of = *node;
        use.room = {info.num_cpus, MebiBytes{info.pn_min_memory},
                    typed_gres(text(info.tres_per_node))};
    }
    return use;
}

bool is_of_use(const NodeUse &use)
{
    return use.pending || !use.named.empty() || !use.shadow_of.empty();
}

NodeHolder holder_of(const slurm_job_info_t &info)
{
    NodeHolder holder{{info.step_id.job_id, Sluid{info.step_id.sluid}},
                      expand(info.nodes)};
    bool limited = info.time_limit != INFINITE && info.time_limit != NO_VAL;
    if (limited && info.end_time != 0)
        holder.end = time_of(info.end_time);
    return holder;
}

} // namespace

// Where an excluded node is not in Slurm any more, slurmctld loses no job: it
// only logs an error at its start, and cannot update the job.
std::vector<NodeUse> uses_of(const slurm_job_info_t &info)
{
    std::vector<NodeUse> uses;
    if (NodeUse use = use_of(info); is_of_use(use))
        uses.push_back(std::move(use));
    if (auto excluded = expand(info.exc_nodes); !excluded.empty()) {
        NodeUse avoids;
        avoids.job = {info.step_id.job_id, Sluid{info.step_id.sluid}};
        avoids.over = true;
        avoids.named = std::move(excluded);
        uses.push_back(std::move(avoids));
    }
    return uses;
}

Result<std::vector<NodeHolder>> SlurmApi::load_holders()
{
    auto info = load_all_records("load jobs with nodes");
    if (!info)
        return std::unexpected(info.error());
    std::vector<NodeHolder> holders;
    for (const slurm_job_info_t &job : jobs_in(**info))
        if (holds_nodes(job))
            holders.push_back(holder_of(job));
    return holders;
}

Result<std::vector<NodeUse>> SlurmApi::load_uses()
{
    auto info = load_all_records("load all jobs");
    if (!info)
        return std::unexpected(info.error());
    std::vector<NodeUse> uses;
    for (const slurm_job_info_t &job : jobs_in(**info))
        std::ranges::move(uses_of(job), std::back_inserter(uses));
    return uses;
}

Result<JobRef> SlurmApi::submit_shadow(const std::string &node,
                                       const NodeRoom &room, ShadowTier tier)
{
    auto all = load_partitions();
    if (!all)
        return std::unexpected(all.error());
    auto partitions = shadow_partitions(node, tier, *all);
    if (!partitions)
        return std::unexpected(partitions.error());
    static char work_dir[] = "/";
    static char name[] = "slurmk8sd-shadow";
    std::string comment = encode_shadow(node);
    std::string features = names::pin_prefix + node;
    std::string words = "held for Pods of other schedulers";
    std::string gres = gres_text(room.gres);
    job_desc_msg_t message;
    slurm_init_job_desc_msg(&message);
    message.bitflags |= EXTERNAL_JOB;
    message.name = name;
    message.work_dir = work_dir;
    message.user_id = getuid();
    message.group_id = getgid();
    message.partition = borrow(*partitions);
    message.features = borrow(features);
    message.num_tasks = 1;
    message.cpus_per_task = static_cast<std::uint16_t>(room.cpus);
    message.min_cpus = room.cpus;
    message.min_nodes = message.max_nodes = 1;
    message.pn_min_memory = room.memory.value;
    if (!gres.empty())
        message.tres_per_node = borrow(gres);
    message.priority = highest_priority;
    message.requeue = 0;
    message.admin_comment = borrow(comment);
    message.comment = borrow(words);
    return submitted_job("submit a shadow placeholder for " + node,
                         [&](submit_response_msg_t **answer) {
                             return slurm_submit_batch_job(&message, answer);
                         });
}

} // namespace bridge
