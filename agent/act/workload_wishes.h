// SPDX-License-Identifier: GPL-2.0-or-later
// The requests that the workloads which own a Pod make of Slurm in their
// annotations. For worker threads; thread-safe.
#pragma once

#include "agent/calls/kube_api.h"
#include "agent/objects/objects.h"
#include "common/base/mailbox.h"
#include "common/base/result.h"

#include <compare>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace bridge {

class Owners {
  public:
    // Returns the Pod with the request annotations of its owner and the owners
    // above it added to its own: see add_wishes(). Code::busy if an owner
    // cannot be read now; an owner that is gone, of an unsupported kind or not
    // readable for the agent ends the walk. Each owner is read at most once a
    // minute.
    Result<Pod> with_wishes(const Pod &pod, Kube &kube, Clock::time_point now);

  private:
    // What a Pod says of its owner, which may be wrong, with the namespace.
    struct Key {
        std::string ns;
        OwnerRef owner;

        auto operator<=>(const Key &) const = default;
    };
    struct Known {
        Workload workload; // without a uid: it could not be read
        Clock::time_point since;
    };

    Result<Workload> find(const std::string &ns, const OwnerRef &owner,
                          Kube &kube, Clock::time_point now);
    std::optional<Workload> look_up(const Key &key, Clock::time_point now);
    void sweep(Clock::time_point now);

    std::mutex mutex_;
    std::map<Key, Known> known_;
    Clock::time_point swept_{};
};

} // namespace bridge
