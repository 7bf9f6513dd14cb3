// SPDX-License-Identifier: GPL-2.0-or-later
// What has been listed completely since the start. Before all of it is, the
// agent only listens: it would take what is not listed yet for what is gone.
// Owner thread only.
#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

namespace bridge {

class FirstLists {
  public:
    enum class List {
        nodes,
        namespaces,
        jobs,
        grace_times,
        slurm_nodes,   // the first sync of Slurm's nodes is over
        slurm_devices, // one that knew the devices; nothing waits for it
    };

    // schedulers: by how many scheduler names Pods are watched.
    explicit FirstLists(std::size_t schedulers) : schedulers_(schedulers) {}

    void add_pods(const std::string &scheduler) { pods_of_.insert(scheduler); }
    bool has_all_pods() const { return pods_of_.size() >= schedulers_; }

    // Returns whether it is the first of its kind.
    bool add(List list) { return !std::exchange(has_[index(list)], true); }
    bool has(List list) const { return has_[index(list)]; }

    // Whether everything is there but the Pods.
    bool has_the_rest() const
    {
        return has(List::nodes) && has(List::namespaces) && has(List::jobs) &&
               has(List::grace_times) && has(List::slurm_nodes);
    }

  private:
    static std::size_t index(List list)
    {
        return static_cast<std::size_t>(list);
    }
    static constexpr std::size_t lists =
        static_cast<std::size_t>(List::slurm_devices) + 1;

    const std::size_t schedulers_;
    std::set<std::string> pods_of_; // scheduler names
    std::array<bool, lists> has_{};
};

} // namespace bridge
