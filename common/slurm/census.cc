// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/census.h"

#include "common/slurm/census_record.h"
#include "common/slurm/ctl_conf.h"
#include "common/slurm/error.h"
#include "common/slurm/job_record.h"
#include "common/slurm/node_record.h"
#include "common/slurm/strings.h"

#include <cerrno>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

// libslurm exports it, and slurm.h has nothing else for what
// slurm_get_statistics() returns.
void slurm_free_stats_response_msg(stats_info_response_msg_t *message);
}

namespace bridge {

namespace {

using PartitionInfo =
    SlurmPtr<partition_info_msg_t, slurm_free_partition_info_msg>;
using ReservationInfo =
    SlurmPtr<reserve_info_msg_t, slurm_free_reservation_info_msg>;
using LicenseInfo = SlurmPtr<license_info_msg_t, slurm_free_license_info_msg>;

constexpr std::uint16_t everything = SHOW_ALL | SHOW_LOCAL;
// Of nodes: gres_used needs SHOW_DETAIL. Without SHOW_MIXED a node of which
// jobs have a part is ALLOCATED.
constexpr std::uint16_t in_detail = SHOW_DETAIL | SHOW_MIXED;

constexpr std::uint64_t private_people =
    PRIVATE_DATA_JOBS | PRIVATE_DATA_USERS | PRIVATE_DATA_USAGE |
    PRIVATE_DATA_ACCOUNTS;

} // namespace

Result<std::optional<NodeCensus>>
SlurmCensusApi::count_nodes(std::int64_t as_of)
{
    auto records = load_node_records(as_of, in_detail, "count nodes");
    if (!records)
        return std::unexpected(records.error());
    if (!*records)
        return std::nullopt;
    const NodeInfo &info = **records;
    NodeCensus census{info->last_update, {}};
    census.nodes.reserve(info->record_count);
    for_each_node(info, [&](const node_info_t &node) {
        census.nodes.push_back(counted_node_of(node));
    });
    return census;
}

Result<std::vector<CountedPartition>> SlurmCensusApi::count_partitions()
{
    partition_info_msg_t *raw = nullptr;
    if (slurm_load_partitions(0, &raw, everything) != SLURM_SUCCESS)
        return fail_slurm(errno, "count partitions");
    PartitionInfo info(raw);
    std::vector<CountedPartition> partitions;
    for (std::uint32_t i = 0; i < info->record_count; i++) {
        const partition_info_t &one = info->partition_array[i];
        partitions.push_back({text(one.name), expand(one.nodes)});
    }
    return partitions;
}

Result<>
SlurmCensusApi::count_jobs(const std::function<void(const CountedJob &)> &visit)
{
    auto records = load_all_records("count jobs");
    if (!records)
        return std::unexpected(records.error());
    for (const slurm_job_info_t &job : jobs_in(**records))
        visit(counted_job_of(job));
    return {};
}

Result<SchedulerCensus> SlurmCensusApi::ask_scheduler()
{
    stats_info_request_msg_t request{STAT_COMMAND_GET};
    stats_info_response_msg_t *raw = nullptr;
    if (slurm_get_statistics(&raw, &request) != SLURM_SUCCESS)
        return fail_slurm(errno, "ask for the scheduler's statistics");
    SlurmPtr<stats_info_response_msg_t, slurm_free_stats_response_msg> stats(
        raw);
    SchedulerCensus census;
    census.threads = stats->server_thread_count;
    census.agents = stats->agent_count;
    census.agent_queue = stats->agent_queue_size;
    census.database_queue = stats->dbd_agent_queue_size;
    census.cycles = stats->schedule_cycle_counter;
    census.cycle_sum = stats->schedule_cycle_sum;
    census.cycle_last = stats->schedule_cycle_last;
    census.cycle_max = stats->schedule_cycle_max;
    census.queue = stats->schedule_queue_len;
    census.backfill_cycles = stats->bf_cycle_counter;
    census.backfill_sum = stats->bf_cycle_sum;
    census.backfill_last = stats->bf_cycle_last;
    census.backfill_max = stats->bf_cycle_max;
    census.backfill_depth = stats->bf_last_depth;
    census.backfilled = stats->bf_backfilled_jobs;
    census.since = time_of(stats->req_time_start);
    for (std::uint32_t i = 0; i < stats->rpc_type_size; i++)
        census.rpcs.push_back({stats->rpc_type_id[i], stats->rpc_type_cnt[i],
                               stats->rpc_type_time[i]});
    return census;
}

Result<CensusConf> SlurmCensusApi::ask_conf()
{
    auto conf = load_ctl_conf();
    if (!conf)
        return std::unexpected(conf.error());
    const std::uint64_t hidden = (*conf)->private_data;
    CensusConf said;
    said.min_job_age = std::chrono::seconds((*conf)->min_job_age);
    said.people_are_private = (hidden & private_people) != 0;
    said.reservations_are_private = (hidden & PRIVATE_DATA_RESERVATIONS) != 0;
    return said;
}

Result<std::vector<CountedReservation>> SlurmCensusApi::count_reservations()
{
    reserve_info_msg_t *raw = nullptr;
    if (slurm_load_reservations(0, &raw) != SLURM_SUCCESS)
        return fail_slurm(errno, "count reservations");
    ReservationInfo info(raw);
    std::vector<CountedReservation> all;
    for (std::uint32_t i = 0; i < info->record_count; i++) {
        const reserve_info_t &one = info->reservation_array[i];
        all.push_back({text(one.name), one.node_cnt, one.core_cnt,
                       time_of(one.start_time), time_of(one.end_time)});
    }
    return all;
}

Result<std::vector<CountedLicense>> SlurmCensusApi::count_licenses()
{
    license_info_msg_t *raw = nullptr;
    if (slurm_load_licenses(0, &raw, everything) != SLURM_SUCCESS)
        return fail_slurm(errno, "count licenses");
    LicenseInfo info(raw);
    std::vector<CountedLicense> all;
    for (std::uint32_t i = 0; i < info->num_lic; i++) {
        const slurm_license_info_t &one = info->lic_array[i];
        all.push_back({text(one.name), text(one.nodes), one.total, one.in_use,
                       one.reserved});
    }
    return all;
}

} // namespace bridge
