// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/slurm_facts.h"

#include "common/base/text.h"
#include "common/slurm/ctl_conf.h"
#include "common/slurm/database.h"
#include "common/slurm/error.h"
#include "common/slurm/strings.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <format>
#include <string_view>
#include <utility>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
}

namespace bridge {

namespace {

using Partitions =
    SlurmPtr<partition_info_msg_t, slurm_free_partition_info_msg>;

// ACCOUNTING_ENFORCE_… of slurm_protocol_defs.h, which is not public.
constexpr std::uint16_t enforce_limits = 1 << 1;
constexpr std::pair<unsigned, const char *> enforce_words[] = {
    {1 << 0, "associations"}, {enforce_limits, "limits"}, {1 << 2, "wckeys"},
    {1 << 3, "qos"},          {1 << 4, "safe"},           {1 << 5, "nojobs"},
    {1 << 6, "nosteps"}};
constexpr std::pair<std::uint64_t, const char *> store_words[] = {
    {CONF_FLAG_SJC, "job_comment"},
    {CONF_FLAG_SJE, "job_env"},
    {CONF_FLAG_SJX, "job_extra"},
    {CONF_FLAG_SJS, "job_script"}};

// Splits "job_submit/k8s,lua" into "k8s" and "lua".
std::vector<std::string> plugin_names(const char *list)
{
    std::vector<std::string> names;
    for (std::string_view word : all_parts(list ? list : "", ',')) {
        word.remove_prefix(word.rfind('/') + 1); // npos + 1 is 0
        if (!word.empty() && word != "(null)")
            names.emplace_back(word);
    }
    return names;
}

std::map<std::string, std::string> parameters(const char *list)
{
    std::map<std::string, std::string> found;
    for (const std::string &word : plugin_names(list)) {
        auto equals = word.find('=');
        found[word.substr(0, equals)] =
            equals == word.npos ? "" : word.substr(equals + 1);
    }
    return found;
}

bool is_set(std::uint64_t memory)
{
    memory &= ~std::uint64_t{MEM_PER_CPU};
    return memory != 0 && memory != (NO_VAL64 & ~std::uint64_t{MEM_PER_CPU}) &&
           memory != (INFINITE64 & ~std::uint64_t{MEM_PER_CPU});
}

std::vector<std::string> expand(const char *ranges)
{
    std::vector<std::string> names;
    if (!ranges)
        return names;
    hostlist_t *list = slurm_hostlist_create(ranges);
    while (char *host = list ? slurm_hostlist_shift(list) : nullptr) {
        names.emplace_back(host);
        free(host); // hostlist_shift() uses malloc
    }
    if (list)
        slurm_hostlist_destroy(list);
    return names;
}

std::string build_version()
{
    return std::format("{}.{:02}.{}", SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
                       SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER),
                       SLURM_VERSION_MICRO(SLURM_VERSION_NUMBER));
}

void read_plugins(const slurm_conf_t &conf, SlurmFacts &facts)
{
    facts.job_submit_plugins = plugin_names(conf.job_submit_plugins);
    facts.prep_plugins = plugin_names(conf.prep_plugins);
    facts.node_features_plugins = plugin_names(conf.node_features_plugins);
    facts.gres_types = plugin_names(conf.gres_plugins);
    // slurmctld uses only the first one.
    if (auto buffers = plugin_names(conf.bb_type); !buffers.empty())
        facts.burst_buffer = buffers.front();
    facts.prolog_scripts = conf.prolog_cnt || conf.epilog_cnt ||
                           conf.prolog_slurmctld_cnt ||
                           conf.epilog_slurmctld_cnt;
}

void read_scheduling(const slurm_conf_t &conf, SlurmFacts &facts)
{
    facts.select_type = text(conf.select_type);
    facts.counts_memory = conf.select_type_param & SELECT_MEMORY;
    facts.memory_default = is_set(conf.def_mem_per_cpu);
    facts.enforces_part_limits =
        conf.enforce_part_limits != PARTITION_ENFORCE_NONE;
    facts.enforces_all_limits =
        conf.enforce_part_limits == PARTITION_ENFORCE_ALL;
    facts.scheduler_type = text(conf.schedtype);
    facts.scheduler_parameters = parameters(conf.sched_params);
    facts.gang = conf.preempt_mode & PREEMPT_MODE_GANG;
    facts.complete_wait = std::chrono::seconds(conf.complete_wait);
}

void read_controller(const slurm_conf_t &conf, SlurmFacts &facts)
{
    facts.version = text(conf.version);
    facts.built_for = build_version();
    facts.conf_path = text(conf.slurm_conf);
    facts.slurm_user = text(conf.slurm_user_name);
    facts.slurm_user_id = conf.slurm_user_id;
    if (conf.max_node_cnt != 0 && conf.max_node_cnt != NO_VAL &&
        conf.max_node_cnt != INFINITE)
        facts.max_nodes = conf.max_node_cnt;
    facts.max_jobs = conf.max_job_cnt;
    facts.min_job_age = std::chrono::seconds(conf.min_job_age);
    facts.powers_down = !text(conf.suspend_program).empty() &&
                        conf.suspend_time != INFINITE &&
                        conf.suspend_time != NO_VAL;
    facts.spares_some = !text(conf.suspend_exc_nodes).empty() ||
                        !text(conf.suspend_exc_parts).empty();
    facts.accounting = text(conf.accounting_storage_type).contains("slurmdbd");
    facts.enforces_limits = conf.accounting_storage_enforce & enforce_limits;
    facts.stores_comment = conf.conf_flags & CONF_FLAG_SJC;
    for (const auto &[bit, word] : enforce_words)
        if (conf.accounting_storage_enforce & bit)
            facts.enforced[word];
    for (const auto &[bit, word] : store_words)
        if (conf.conf_flags & bit)
            facts.store_flags[word];
    facts.state_save_location = text(conf.state_save_location);
}

PartitionFacts partition_from(const partition_info_t &info)
{
    PartitionFacts facts;
    facts.name = text(info.name);
    facts.nodes = expand(info.nodes);
    facts.up = info.state_up == PARTITION_UP;
    facts.suspends = info.preempt_mode != NO_VAL16 &&
                     (info.preempt_mode & PREEMPT_MODE_SUSPEND);
    facts.exclusive = info.max_share == 0;
    facts.forces_sharing =
        info.max_share != NO_VAL16 && (info.max_share & SHARED_FORCE);
    facts.memory_default = is_set(info.def_mem_per_cpu);
    facts.priority_tier = info.priority_tier;
    if (info.grace_time != NO_VAL && info.grace_time != INFINITE)
        facts.grace_time = std::chrono::seconds(info.grace_time);
    return facts;
}

Result<> read_partitions(SlurmFacts &facts)
{
    partition_info_msg_t *raw = nullptr;
    if (slurm_load_partitions(0, &raw, SHOW_ALL | SHOW_LOCAL) != SLURM_SUCCESS)
        return fail_slurm(errno, "load partitions");
    Partitions partitions(raw);
    for (std::uint32_t i = 0; i < partitions->record_count; i++)
        facts.partitions.push_back(
            partition_from(partitions->partition_array[i]));
    return {};
}

void read_qos(SlurmFacts &facts)
{
    SlurmDatabase connection;
    SlurmList list(connection.get() ? slurmdb_qos_get(connection.get(), nullptr)
                                    : nullptr);
    if (!list)
        return;
    facts.qos.emplace();
    each_in<slurmdb_qos_rec_t>(list.get(),
                               [&](const slurmdb_qos_rec_t &record) {
                                   facts.qos->insert(text(record.name));
                               });
}

void read_associations(const slurm_conf_t &conf, SlurmFacts &facts)
{
    SlurmDatabase connection;
    if (!connection.get())
        return;
    SlurmList clusters(slurm_list_create(nullptr));
    slurm_list_append(clusters.get(), conf.cluster_name);
    slurmdb_assoc_cond_t condition{};
    condition.cluster_list = clusters.get();
    SlurmList list(slurmdb_associations_get(connection.get(), &condition));
    if (!list)
        return;
    facts.associated_users.emplace();
    each_in<slurmdb_assoc_rec_t>(
        list.get(), [&](const slurmdb_assoc_rec_t &record) {
            if (record.user) // else it is an account's
                facts.associated_users->insert(record.user);
        });
}

} // namespace

Result<SlurmFacts> load_slurm_facts(Slurm &slurm)
{
    auto conf = load_ctl_conf();
    if (!conf)
        return std::unexpected(conf.error());
    SlurmFacts facts;
    read_controller(**conf, facts);
    read_plugins(**conf, facts);
    read_scheduling(**conf, facts);
    if (auto said = read_partitions(facts); !said)
        return std::unexpected(said.error());
    auto nodes = slurm.load_nodes();
    if (!nodes)
        return std::unexpected(nodes.error());
    facts.nodes = std::move(*nodes);
    if (facts.accounting)
        read_qos(facts);
    if (facts.accounting && facts.enforced.contains("associations"))
        read_associations(**conf, facts);
    return facts;
}

} // namespace bridge
