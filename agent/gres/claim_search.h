// SPDX-License-Identifier: GPL-2.0-or-later
// Assigns the devices of a job on a node to the requests of claims, so that
// each claim is satisfied. Tries all ways in order: devices by index, then
// shared devices as kube-scheduler orders them, by pool, slice and position.
// CPU devices are assigned after all others, and claims that want some are
// checked then. Pure.
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
    // given: the devices of facts.given that can still be chosen, in this
    // order.
    ClaimSearch(const PlanFacts &facts, const std::vector<DevicePtr> &given);

    // Returns false if no way satisfies all claims; reason() says why the last
    // one failed.
    bool run();
    const std::string &reason() const { return reason_; }
    // Returns true if the search may succeed soon. This includes devices
    // without room: the share of a Pod that has ended is released shortly after
    // its job.
    bool later() const { return later_ || crowded_; }
    // After run() has returned false: returns true if no way exists, and false
    // if the search gave up or may succeed soon.
    bool proves_none() const;
    // Returns the cost of all selectors so far, of facts.max_cost.
    std::size_t cost() const { return facts_.max_cost - budget_.left(); }
    // Returns true if some of the given devices are not used.
    bool exceeds() const;
    // Returns the amounts, of what Slurm counts without indexes, of all chosen
    // devices.
    GresCounts amounts() const;
    // Returns the devices of the claim, in the order of its requests.
    std::vector<ChosenDevice> chosen_for(std::size_t claim) const;

  private:
    // A device of the node that may be assigned, and what is used of it.
    struct Offer {
        DevicePtr device;
        bool shared = false;   // a share of it, for which Slurm gave no index
        bool used = false;     // the whole device is used
        Capacities consumed{}; // by others, and by what is chosen here
        // By claim (index in the needs): what is chosen for it here, and what
        // an earlier write with unknown outcome may have taken for it.
        std::map<std::size_t, Capacities> chosen{};
        std::map<std::size_t, Capacities> held{};
    };

    static bool is_share(const DevicesWanted &wanted);
    static void take(Offer &offer, const DevicesWanted &wanted);
    Offer share_of(const DevicePtr &device) const;
    void record_held_capacity(Offer &offer,
                              const std::set<std::string> &ours) const;
    static Capacities gone_for(const Offer &offer, std::size_t claim);
    bool compute_fits(const DevicesWanted &wanted);
    bool add_uncounted(const DevicesWanted &wanted,
                       const DeviceClass &device_class);
    bool is_of_claim(std::size_t claim, const DevicePtr &device) const;
    bool give(std::size_t w, std::int64_t n, std::size_t from);
    bool give_cpus();
    bool has_room(const Offer &offer, const DevicesWanted &wanted);
    bool is_satisfied(std::size_t c);

    const PlanFacts &facts_;
    CelBudget budget_; // for all checks of devices
    CpuChoice cpus_;
    std::vector<Offer> offers_;
    std::vector<std::vector<bool>> fits_;        // by request, as offers_
    std::vector<std::vector<DevicePtr>> chosen_; // by request
    std::string reason_;
    bool later_ = false;
    bool crowded_ = false; // a suitable device had no room
    int steps_ = 0;
};

} // namespace bridge
