// SPDX-License-Identifier: GPL-2.0-or-later
// Gives the devices of a job on a node to the requests of claims, so that each
// claim is satisfied: tries all ways in order, devices by index, then those
// that are given in shares as kube-scheduler does, by pool, slice and place.
// Claims with CPU devices get these once all others have theirs, and are
// satisfied or not then. Pure.
#pragma once

#include "agent/gres/claim_plan.h"
#include "agent/gres/cpu_choice.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace bridge {

class ClaimSearch {
  public:
    // given: of facts.given, those that are there to be chosen, in this order.
    ClaimSearch(const PlanFacts &facts, const std::vector<DevicePtr> &given);

    // False: why() says what kept the last way from being one.
    bool run();
    const std::string &why() const { return why_; }
    // It may be one soon. Also where a device has no room: what has ended gives
    // its share back a moment after its job.
    bool later() const { return later_ || crowded_; }
    // Some of the given devices are not used.
    bool exceeds() const;
    // Of what Slurm counts, all that is chosen.
    GresCounts amounts() const;
    // Of the claim, in the order of its requests.
    std::vector<ChosenDevice> chosen_for(std::size_t claim) const;

  private:
    // A device of the node that may be given, and what is left of it.
    struct Offer {
        DevicePtr device;
        bool shared = false;   // a share of it, for which Slurm gave no index
        bool used = false;     // all of it
        Capacities consumed{}; // by others, and by what is chosen here
        // By claim of the needs: what is chosen for it here, and what an
        // earlier write of it that nobody knows the outcome of may have taken.
        std::map<std::size_t, Capacities> chosen{};
        std::map<std::size_t, Capacities> held{};
    };

    static bool is_share(const DevicesWanted &wanted);
    static void take(Offer &offer, const DevicesWanted &wanted);
    Offer share_of(const DevicePtr &device) const;
    void note_held(Offer &offer, const std::set<std::string> &ours) const;
    static Capacities gone_for(const Offer &offer, std::size_t claim);
    bool look_at(const DevicesWanted &wanted);
    bool add_uncounted(const DevicesWanted &wanted,
                       const DeviceClass &device_class);
    bool is_of_claim(std::size_t claim, const DevicePtr &device) const;
    bool give(std::size_t w, std::int64_t n, std::size_t from);
    bool give_cpus();
    bool has_room(const Offer &offer, const DevicesWanted &wanted);
    bool is_satisfied(std::size_t c);

    const PlanFacts &facts_;
    CelBudget budget_{CelSelector::max_sum}; // of all looks at a device
    CpuChoice cpus_;
    std::vector<Offer> offers_;
    std::vector<std::vector<bool>> fits_;        // by request, as offers_
    std::vector<std::vector<DevicePtr>> chosen_; // by request
    std::string why_;
    bool later_ = false;
    bool crowded_ = false; // a device that would do had no room
    int steps_ = 0;
};

} // namespace bridge
