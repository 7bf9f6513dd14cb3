// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/gres.h"

#include "agent/objects/extended_resources.h"

#include <algorithm>
#include <format>

namespace bridge {

namespace {

// Returns the GRES on the only node of the job.
std::vector<JobGres> gres_of(const BatchJob &batch)
{
    const auto &on = batch.job.gres_on;
    return batch.asks_gres && !on.empty() ? on.front() : std::vector<JobGres>{};
}

bool answers(const DeviceGres &one, const JobGres &gres)
{
    return !one.is_resource() && one.gres == gres.gres &&
           (gres.type.empty() || one.type == gres.type);
}

} // namespace

Result<std::map<std::string, std::uint64_t>>
batch_devices(const BatchJob &batch, const std::vector<DeviceGres> &known)
{
    std::map<std::string, std::uint64_t> made;
    // Otherwise the job would run without its devices.
    if (batch.asks_gres && batch.job.devices && batch.job.gres_on.empty())
        return fail(Code::busy,
                    "Slurm does not say which GRES the job was given");
    for (const JobGres &gres : gres_of(batch)) {
        // With --exclusive a job may have GRES that have nothing to do with
        // Pods.
        bool ours = std::ranges::contains(known, gres.gres, &DeviceGres::gres);
        if (gres.count == 0 || !ours)
            continue;
        auto one = std::ranges::find_if(
            known, [&](const DeviceGres &each) { return answers(each, gres); });
        if (one == known.end())
            return fail(Code::rejected,
                        std::format("Pods get no devices for its GRES {}{}{}: "
                                    "k8s.conf's DeviceGres has no DeviceClass "
                                    "for it",
                                    gres.gres, gres.type.empty() ? "" : ":",
                                    gres.type));
        made[class_resource_prefix + one->name] += gres.count;
    }
    return made;
}

std::vector<std::string> gpu_variables(const BatchJob &batch)
{
    std::vector<std::uint32_t> indexes;
    std::uint64_t count = 0;
    for (const JobGres &gres : gres_of(batch))
        if (gres.gres == "gpu") {
            count += gres.count;
            indexes.insert(indexes.end(), gres.indexes.begin(),
                           gres.indexes.end());
        }
    if (count == 0)
        return {};
    std::ranges::sort(indexes);
    std::string list;
    for (std::uint32_t index : indexes)
        list += (list.empty() ? "" : ",") + std::to_string(index);
    std::vector<std::string> made{"SLURM_GPUS_ON_NODE=" +
                                  std::to_string(count)};
    if (!list.empty())
        made.push_back("SLURM_JOB_GPUS=" + list);
    return made;
}

} // namespace bridge
