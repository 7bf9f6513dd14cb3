// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/kept_plan.h"

#include "agent/objects/digest.h"

namespace bridge {

namespace {

void add(std::string &text, std::uint64_t number)
{
    text += std::to_string(number) + ',';
}

// A claim that is still to be made has no version, and follows from its Pod.
void add_needs(std::string &text, const DeviceNeeds &needs)
{
    for (std::size_t i = 0; i < needs.claims.size(); i++) {
        add_key_part(text, needs.claims[i]->uid);
        add_key_part(text, needs.claims[i]->resource_version);
        add_key_part(text, needs.consumers[i]);
    }
    text += '/';
    for (const DevicesWanted &one : needs.wanted) {
        add(text, one.claim);
        add_key_part(text, one.request->name);
        add_key_part(text, one.wish.gres);
        add_key_part(text, one.wish.type);
        for (const auto &[gres, amount] : one.wish.amounts) {
            add_key_part(text, gres);
            add(text, amount);
        }
        add(text, one.wish.exact);
        add(text, static_cast<std::uint64_t>(one.count));
    }
    text += '/';
}

} // namespace

std::string plan_key(const DeviceNeeds &needs, const Job &job, std::size_t node)
{
    std::string text;
    add(text, job.ref.sluid.value);
    add_needs(text, needs);
    if (node < job.gres_on.size())
        for (const JobGres &one : job.gres_on[node]) {
            add_key_part(text, one.gres);
            add_key_part(text, one.type);
            add(text, one.count);
            for (std::uint32_t index : one.indexes)
                add(text, index);
        }
    text += '/';
    if (node < job.cpu_ids_on.size())
        for (std::uint32_t cpu : job.cpu_ids_on[node])
            add(text, cpu);
    return digest_of(text);
}

std::vector<std::uint64_t> changes_of(const std::vector<DevicePool> &pools,
                                      const ClaimStore &claims)
{
    std::vector<std::uint64_t> changes;
    for (const DevicePool &pool : pools)
        changes.push_back(claims.changes_in(pool.driver, pool.name));
    return changes;
}

} // namespace bridge
