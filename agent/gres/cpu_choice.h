// SPDX-License-Identifier: GPL-2.0-or-later
// Which CPU devices each claim gets that asks for some. Pure.
//
// CPUs are too many to try all ways, and too much alike to need it. For each
// claim it is tried to begin with each kind of CPU that its constraints tell
// apart, such as each NUMA node, then to go on with whatever holds the
// constraints; the way that takes most of the job's own CPUs is the one. Claims
// with selectors or constraints come first: the others take any.
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

// Whether that claim of these needs asks for CPU devices.
bool has_cpus(const DeviceNeeds &needs, std::size_t claim);

class CpuChoice {
  public:
    // For one plan; all of these stay what they are until it is made. budget:
    // the plan's, as for why_unfit().
    CpuChoice(const DeviceNeeds &needs, const CpuOffer &offer,
              const DeviceClasses &classes, const Node &node,
              CelBudget &budget);

    // chosen: the devices for each of needs.wanted, of which those for CPUs are
    // set anew; the others are there already. Why some claim cannot have its
    // CPUs, as a clause; empty: all have. Each claim is to be checked as a
    // whole then. May be asked again with others: all that it looks at for one
    // plan is bounded, beyond that there is no choice any more.
    std::string choose(std::vector<std::vector<DevicePtr>> &chosen);

  private:
    using Wanted = std::vector<const DevicesWanted *>; // of one claim, for CPUs

    // Some way for a claim to get its CPUs, or to get none.
    struct Way {
        std::vector<ChosenDevice> chosen; // with the claim's other devices
        std::vector<std::size_t> places;  // in the offer, of those
        std::string why; // it leads nowhere; empty: it does not
    };

    std::string choose_for(const ResourceClaim &claim, const Wanted &wanted,
                           std::vector<ChosenDevice> &chosen);
    std::string no_device_words(const DeviceRequest &request) const;
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
    std::vector<bool> used_;         // by earlier claims; as the offer
    std::map<std::pair<const DeviceRequest *, std::size_t>, bool> fits_;
    int looks_ = 0;
    std::string error_; // why nothing can be told
    std::string unfit_; // why the last device did not fit
};

} // namespace bridge
