// SPDX-License-Identifier: GPL-2.0-or-later
// Pods whose objects are gone while their containers may still run. A kubelet
// stops the containers of a Pod that was deleted by force, but nobody reports
// when it has done so. Therefore they count as living for the rest of their
// grace period and a margin. Used by the owner thread; a restart of the agent
// forgets them.
#pragma once

#include "agent/objects/objects.h"
#include "common/base/mailbox.h"
#include "common/contract/job_ref.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// Beyond the grace period, for the kubelet.
inline constexpr std::chrono::seconds vanished_margin{10};

// What such a Pod may still use of its Node.
struct VanishedPod {
    ObjectKey key;
    JobId job = 0; // 0: not known
    Requests requests;
    std::uint32_t cpus = 1; // in its job
    bool devices = false;   // has claims or extended resources
    Clock::time_point until;
};

class VanishedPods {
  public:
    // Call for each new state of a Pod: notes since when it has been stopping,
    // and with which grace period.
    void note(const Pod &pod, Clock::time_point now);

    // Call when the object of a Pod is gone; `last` is its last state. Returns
    // true if its containers may still run: then it is remembered, with this
    // number of CPUs in its job.
    bool record_gone(const Pod &last, std::uint32_t cpus,
                     Clock::time_point now);

    // Forgets those whose time is over; returns their Nodes.
    std::set<std::string> drop_over(Clock::time_point now);

    // Returns when drop_over() is due; Clock::time_point::max() if there are
    // none.
    Clock::time_point next_end() const;

    std::vector<VanishedPod> on(const std::string &node) const;

    // Returns how many there are on all Nodes.
    std::size_t count() const;

  private:
    // When its grace period began, as far as the watch shows, and its length.
    struct Deletion {
        Clock::time_point since;
        std::chrono::seconds grace;
    };
    Clock::time_point end_of(const Pod &pod, Clock::time_point now) const;

    std::map<std::string, Deletion> deletions_; // by uid
    // By Node, and by uid.
    std::map<std::string, std::map<std::string, VanishedPod>> gone_;
};

} // namespace bridge
