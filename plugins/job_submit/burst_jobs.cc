// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/burst_jobs.h"

#include "common/base/ascii.h"
#include "plugins/job_submit/batch_jobs.h"
#include "plugins/job_submit/burst.h"
#include "plugins/job_submit/group_watch.h"
#include "plugins/job_submit/job_desc.h"
#include "plugins/job_submit/node_watch.h"
#include "plugins/job_submit/plugin_files.h"
#include "plugins/shared/slurm_conf_path.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

extern "C" {
#include <slurm/slurmdb.h>
#include <slurm/spank.h> // slurm_error()

// Slurm's allocator, from libslurmfull.
char *slurm_xstrdup(const char *text);
void slurm_xfree(void **item);

// In libslurmfull: assoc_mgr.c. They take their own locks. What they point to
// belongs to slurmctld, and is copied at once, as Slurm's job_submit/lua does.
int assoc_mgr_fill_in_assoc(void *connection, slurmdb_assoc_rec_t *wanted,
                            int enforce, slurmdb_assoc_rec_t **found,
                            bool locked) __attribute__((weak));
int assoc_mgr_fill_in_qos(void *connection, slurmdb_qos_rec_t *wanted,
                          int enforce, slurmdb_qos_rec_t **found, bool locked)
    __attribute__((weak));
}

namespace bridge {

namespace {

std::string text(const char *chars)
{
    return chars ? chars : "";
}

struct Association {
    std::uint32_t id = 0; // 0: there is none
    std::string account;
    std::string parent_account;
    std::uint32_t default_qos = 0; // 0: there is none
};

// Returns the association by which slurmctld would account a job. An empty
// account is the user's default one, an empty partition none in particular.
Association association_of(std::uint32_t user, std::string account,
                           std::string partition)
{
    slurmdb_assoc_rec_t wanted;
    slurmdb_init_assoc_rec(&wanted, false);
    wanted.uid = user;
    wanted.acct = account.empty() ? nullptr : account.data();
    wanted.partition = partition.empty() ? nullptr : partition.data();
    assoc_mgr_fill_in_assoc(nullptr, &wanted, 0, nullptr, false);
    return {wanted.id == NO_VAL ? 0 : wanted.id, lower_case(text(wanted.acct)),
            lower_case(text(wanted.parent_acct)),
            wanted.def_qos_id == NO_VAL ? 0 : wanted.def_qos_id};
}

// Returns the account and those above it.
std::vector<std::string> accounts_above(std::string account)
{
    constexpr std::size_t deepest = 64;
    std::vector<std::string> names;
    while (!account.empty() && names.size() < deepest &&
           !std::ranges::contains(names, account)) {
        names.push_back(account);
        account = association_of(NO_VAL, account, {}).parent_account;
    }
    return names;
}

std::string qos_name(std::uint32_t id)
{
    if (id == 0 || !&assoc_mgr_fill_in_qos)
        return {};
    slurmdb_qos_rec_t wanted{};
    wanted.id = id;
    assoc_mgr_fill_in_qos(nullptr, &wanted, 0, nullptr, false);
    return lower_case(text(wanted.name));
}

// To slurmctld root and SlurmUser are in all groups.
Membership in_groups(std::span<const std::string> groups, std::uint32_t user)
{
    if (user == 0 || user == slurm_conf.slurm_user_id)
        return Membership::yes;
    return burst_groups().find(groups, user);
}

BurstFacts facts_for(const job_desc_msg_t &desc, const std::string &partition)
{
    BurstFacts facts;
    facts.expand = expand_hostlist;
    facts.in_groups = [](auto) { return Membership::unknown; };
    facts.same_association = [](const std::string &) { return false; };
    if (!&slurm_conf || !&assoc_mgr_fill_in_assoc)
        return facts; // no job gets a partition
    facts.enforces_all =
        slurm_conf.enforce_part_limits == PARTITION_ENFORCE_ALL;
    // Every word of AccountingStorageEnforce that says something of users asks
    // for associations, too.
    facts.enforces_accounts = slurm_conf.accounting_storage_enforce != 0;
    std::uint32_t user = desc.user_id;
    std::string account = text(desc.account);
    Association own = association_of(user, account, partition);
    facts.accounts = accounts_above(own.account);
    facts.qos = lower_case(text(desc.qos));
    if (facts.qos.contains(','))
        facts.qos.clear();
    else if (facts.qos.empty())
        facts.qos = qos_name(own.default_qos);
    facts.in_groups = [user](std::span<const std::string> groups) {
        return in_groups(groups, user);
    };
    facts.same_association = [=](const std::string &name) {
        return association_of(user, account, name).id == own.id;
    };
    return facts;
}

// Logs partitions of rules that do not exist, once.
void log_unknown(const std::vector<std::string> &names)
{
    static std::mutex &mutex = *new std::mutex; // never destroyed
    static std::vector<std::string> &said = *new std::vector<std::string>;
    std::lock_guard lock(mutex);
    for (const std::string &name : names)
        if (!std::ranges::contains(said, name))
            slurm_error("job_submit/k8s: a Burst line of k8s.conf names "
                        "partition %s, which does not exist",
                        name.c_str());
    said = names;
}

} // namespace

std::string add_burst_partitions(job_desc_msg_t &desc, const NodeView *view)
{
    if (!given(desc.script))
        return {};
    auto conf = plugin_files().conf();
    if (!conf || conf->bursts.empty())
        return {};
    if (!view) {
        slurm_debug("job_submit/k8s: no partition is added: nodes and "
                    "partitions are not known yet");
        return {};
    }
    if (std::string reason = not_plain_reason(desc);
        !reason.empty() || says_no_burst(entries_of(desc))) {
        slurm_debug("job_submit/k8s: no partition is added: %s",
                    reason.empty() ? "the job has --k8s-no-burst"
                                   : reason.c_str());
        return {};
    }
    std::string own =
        given(desc.partition) ? desc.partition : view->default_partition;
    bool has_rule = std::ranges::contains(conf->bursts, own, &BurstRule::from);
    BurstDecision decision =
        decide_burst(desc, conf->bursts, *view,
                     has_rule ? facts_for(desc, own) : BurstFacts{});
    log_unknown(decision.unknown);
    for (const std::string &why : decision.left)
        slurm_debug("job_submit/k8s: not added: %s", why.c_str());
    if (decision.taken.empty())
        return {};
    slurm_xfree(reinterpret_cast<void **>(&desc.partition));
    desc.partition = slurm_xstrdup(partitions_of(decision).c_str());
    return burst_message(decision);
}

} // namespace bridge
