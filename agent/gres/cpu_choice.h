// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses CPU devices for the claims that request some. Pure.
//
// There are too many CPUs to try all combinations, and they are too similar to
// need it. For each claim one attempt begins with each kind of CPU that its
// constraints distinguish, such as each NUMA node, and continues with any CPUs
// that satisfy the constraints. The attempt with the fewest CPUs that other
// claims still have wins; of equal ones, the attempt with most of the job's own
// CPUs. Claims with selectors or constraints come first, since the others can
// take any CPU.
#pragma once

#include "agent/claims/check.h"
#include "agent/claims/cpu_devices.h"
#include "agent/gres/needs.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

// Returns true if the claim with this index in the needs requests CPU devices.
bool has_cpus(const DeviceNeeds &needs, std::size_t claim);

class CpuChoice {
  public:
    // The arguments must outlive the object and must not change. budget: that
    // of the plan, as for unfit_device_reason().
    CpuChoice(const DeviceNeeds &needs, const CpuOffer &offer,
              const DeviceClasses &classes, const Node &node,
              CelBudget &budget);

    // Replaces in chosen, the devices for each of needs.wanted, those of CPU
    // requests; the other entries must be set already. Returns why a claim
    // cannot have its CPUs, as a clause, or an empty text; the caller must then
    // check each claim as a whole. May be called again with other devices: the
    // total work for one plan is bounded, and beyond that limit every call
    // fails.
    std::string choose(std::vector<std::vector<DevicePtr>> &chosen);

  private:
    // The CPU requests of one claim.
    using Wanted = std::vector<const DevicesWanted *>;

    // One attempt to choose the CPUs of a claim.
    struct Way {
        std::vector<ChosenDevice> chosen; // with the claim's other devices
        // Their indexes in the offer, CPUs only.
        std::vector<std::size_t> places;
        std::string reason; // why the attempt failed, or empty
    };

    std::string choose_for(const ResourceClaim &claim, const Wanted &wanted,
                           std::vector<ChosenDevice> &chosen);
    std::string no_cpu_device_reason(const DeviceRequest &request) const;
    bool may_look(std::size_t times);
    bool fits(const DeviceRequest &request, std::size_t place);
    Way try_from(const ResourceClaim &claim, const Wanted &wanted,
                 const std::vector<ChosenDevice> &others, std::size_t start);
    bool take(const ResourceClaim &claim, const DeviceRequest &request,
              std::size_t place, Way &way);
    bool is_better(const Way &one, const Way &other) const;

    const DeviceNeeds &needs_;
    const CpuOffer &offer_;
    const DeviceClasses &classes_;
    const Node &node_;
    CelBudget &budget_;
    std::vector<std::size_t> order_; // of the claims that want some
    std::vector<bool> used_;         // by earlier claims; indexed as the offer
    std::map<std::pair<const DeviceRequest *, std::size_t>, bool> fits_;
    int looks_ = 0;
    std::string error_; // why nothing can be decided
    std::string unfit_; // why the last device did not fit
};

} // namespace bridge
