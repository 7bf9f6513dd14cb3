// SPDX-License-Identifier: GPL-2.0-or-later
// The partition part of SlurmApi.
#include "common/base/text.h"
#include "common/slurm/api.h"
#include "common/slurm/ctl_conf.h"
#include "common/slurm/error.h"
#include "common/slurm/partition_record.h"
#include "common/slurm/strings.h"

#include <cerrno>
#include <string_view>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

namespace {

using PartitionInfo =
    SlurmPtr<partition_info_msg_t, slurm_free_partition_info_msg>;

Result<PartitionInfo> load_info()
{
    partition_info_msg_t *raw = nullptr;
    if (slurm_load_partitions(0, &raw, SHOW_ALL | SHOW_LOCAL) != SLURM_SUCCESS)
        return fail_slurm(errno, "load partitions");
    return PartitionInfo(raw);
}

Result<std::set<std::string>> load_root_only()
{
    auto info = load_info();
    if (!info)
        return std::unexpected(info.error());
    std::set<std::string> names;
    for (std::uint32_t i = 0; i < (*info)->record_count; i++)
        if ((*info)->partition_array[i].flags & PART_FLAG_ROOT_ONLY)
            names.insert(text((*info)->partition_array[i].name));
    return names;
}

} // namespace

Result<> SlurmApi::check_partitions(const std::string &names)
{
    constexpr std::chrono::seconds believed{30};
    auto now = std::chrono::steady_clock::now();
    std::lock_guard lock(root_only_mutex_);
    if (!root_only_ || now - root_only_read_ > believed) {
        auto loaded = load_root_only();
        if (!loaded)
            return std::unexpected(loaded.error());
        root_only_ = std::move(*loaded);
        root_only_read_ = now;
    }
    std::string_view rest = names;
    while (!rest.empty()) {
        std::string name(next_part(rest, ','));
        if (root_only_->contains(name))
            return fail(Code::rejected,
                        "partition " + name + " is not for users (RootOnly)");
    }
    return {};
}

Result<std::vector<Partition>> SlurmApi::load_partitions()
{
    auto conf = load_ctl_conf();
    if (!conf)
        return std::unexpected(conf.error());
    auto info = load_info();
    if (!info)
        return std::unexpected(info.error());
    std::vector<Partition> partitions;
    for (std::uint32_t i = 0; i < (*info)->record_count; i++)
        partitions.push_back(partition_of((*info)->partition_array[i], **conf));
    return partitions;
}

Result<GraceTimes> SlurmApi::load_grace_times()
{
    auto conf = load_ctl_conf();
    if (!conf)
        return std::unexpected(conf.error());
    auto info = load_info();
    if (!info)
        return std::unexpected(info.error());
    GraceTimes times;
    times.kill_wait = std::chrono::seconds((*conf)->kill_wait);
    for (std::uint32_t i = 0; i < (*info)->record_count; i++) {
        const partition_info_t &one = (*info)->partition_array[i];
        if (one.grace_time != 0 && one.grace_time != NO_VAL &&
            one.grace_time != INFINITE)
            times.preempted[text(one.name)] =
                std::chrono::seconds(one.grace_time);
    }
    return times;
}

} // namespace bridge
