// SPDX-License-Identifier: GPL-2.0-or-later
// What the workloads that own a Pod ask of Slurm, by annotations of theirs. For
// worker threads; safe from several.
#pragma once

#include "agent/calls/kube_api.h"
#include "agent/objects/objects.h"
#include "common/base/mailbox.h"
#include "common/base/result.h"

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace bridge {

class Owners {
  public:
    // The Pod with the annotations of its owner, of that one's owner and of the
    // next beneath its own: see add_wishes(). Code::busy when one of them
    // cannot be read just now; what is gone, of a kind that is not known or not
    // allowed to be read ends the walk. Each is read once a minute at most.
    Result<Pod> with_wishes(const Pod &pod, Kube &kube, Clock::time_point now);

  private:
    struct Known {
        Workload workload; // without a uid: it could not be read
        Clock::time_point since;
    };

    Result<Workload> find(const std::string &ns, const OwnerRef &owner,
                          Kube &kube, Clock::time_point now);
    std::optional<Workload> look_up(const std::string &uid,
                                    Clock::time_point now);

    std::mutex mutex_;
    std::unordered_map<std::string, Known> known_; // by uid
};

} // namespace bridge
