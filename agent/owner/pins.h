// SPDX-License-Identifier: GPL-2.0-or-later
// The Slurm nodes that have a feature of their own (pin_prefix), by which a job
// that adopts Pods asks for just that node. Owner thread only.
#pragma once

#include <set>
#include <string>
#include <utility>

namespace bridge {

class Pins {
  public:
    bool has(const std::string &slurm_node) const
    {
        return nodes_.contains(slurm_node);
    }

    // slurmctld is gone, and may return from an older state, without them.
    void lose()
    {
        nodes_.clear();
        lost_ = true;
    }

    struct News {
        bool changed = false; // other nodes than before have one
        bool back = false;    // they are known again after a loss
    };
    // A sync has found these. doubted: slurmctld went away meanwhile.
    News take(std::set<std::string> found, bool doubted)
    {
        if (doubted)
            found.clear(); // as lose() does
        News news{found != nodes_, !doubted && std::exchange(lost_, false)};
        nodes_ = std::move(found);
        return news;
    }

  private:
    std::set<std::string> nodes_; // Slurm's names
    bool lost_ = false;           // since the last sync
};

} // namespace bridge
