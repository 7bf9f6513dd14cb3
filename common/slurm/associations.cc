// SPDX-License-Identifier: GPL-2.0-or-later
// The associations that slurmctld has, with their usage.
#include "common/slurm/census.h"
#include "common/slurm/database.h"
#include "common/slurm/error.h"
#include "common/slurm/strings.h"

#include <cerrno>
#include <cmath>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurmdb.h>
}

namespace bridge {

namespace {

using AssociationInfo =
    SlurmPtr<assoc_mgr_info_msg_t, slurm_free_assoc_mgr_info_msg>;

// slurmctld has NO_VAL where it has not calculated one.
std::optional<double> number(long double value)
{
    if (!std::isfinite(value) || value < 0 || value >= NO_VAL)
        return std::nullopt;
    return static_cast<double>(value);
}

CountedAssociation association_of(const slurmdb_assoc_rec_t &record)
{
    CountedAssociation one;
    one.account = text(record.acct);
    one.user = text(record.user);
    one.partition = text(record.partition);
    const bool is_root = one.user.empty() && text(record.parent_acct).empty();
    if (!is_root && record.shares_raw != SLURMDB_FS_USE_PARENT)
        one.shares = record.shares_raw;
    const slurmdb_assoc_usage_t *usage = record.usage;
    if (!usage)
        return one;
    if (!is_root)
        one.shares_norm = number(usage->shares_norm);
    one.usage_effective = number(usage->usage_efctv);
    if (std::isfinite(usage->usage_raw) && usage->usage_raw >= 0)
        one.usage = static_cast<double>(usage->usage_raw);
    // Before slurmctld has calculated both, the factor is 0.
    if (!one.user.empty() && one.usage_effective)
        one.fairshare = number(usage->fs_factor);
    return one;
}

} // namespace

Result<std::vector<CountedAssociation>> SlurmCensusApi::count_associations()
{
    assoc_mgr_info_request_msg_t request{};
    request.flags = ASSOC_MGR_INFO_FLAG_ASSOC;
    assoc_mgr_info_msg_t *raw = nullptr;
    if (slurm_load_assoc_mgr_info(&request, &raw) != SLURM_SUCCESS)
        return fail_slurm(errno, "count associations");
    AssociationInfo info(raw);
    std::vector<CountedAssociation> all;
    if (info->assoc_list)
        each_in<slurmdb_assoc_rec_t>(info->assoc_list,
                                     [&](const slurmdb_assoc_rec_t &record) {
                                         all.push_back(association_of(record));
                                     });
    return all;
}

} // namespace bridge
