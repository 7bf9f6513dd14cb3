// SPDX-License-Identifier: GPL-2.0-or-later
// The free PersistentVolumes of the cluster, for claims of classes without
// provisioner. One list serves all Pods for some seconds, because it concerns
// the whole cluster and the API cannot list those of one class. Any thread may
// call this.
#pragma once

#include "agent/objects/volumes.h"
#include "common/base/mailbox.h"
#include "common/base/result.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace bridge {

using VolumeMap = std::map<std::string, Volume>; // by name

class VolumeList {
  public:
    static constexpr std::chrono::seconds max_age{10};
    static constexpr std::chrono::seconds failure_pause{1};
    // Until a list shows without doubt who has a volume that was given away.
    static constexpr std::chrono::seconds given_time{60};
    // More free volumes than this are not known; those are left out that come
    // last by name.
    static constexpr std::size_t most_free = 20000;

    struct Known {
        VolumeMap free;
        // Volumes that name a claim, by "ns/name" of that.
        struct Meant {
            std::string volume;
            std::string uid; // of the claim; empty: of any with this name
        };
        std::multimap<std::string, Meant> meant;
    };
    struct View {
        std::shared_ptr<const Known> known;
        // Volumes that the agent has given away meanwhile, or has tried to; to
        // "ns/name" of the claim.
        std::map<std::string, std::string> given;
    };
    using Read = std::function<Result<Known>()>;

    // Returns the last list. If it is too old, one caller reads it again, and
    // the others get the old one meanwhile, or Code::busy if there is none.
    Result<View> view(Clock::time_point now, const Read &read);

    // The claim ("ns/name") is to get the volume; whether it does is not known.
    void give(const std::string &volume, const std::string &claim,
              Clock::time_point now);

  private:
    struct Given {
        std::string claim;
        Clock::time_point when;
    };
    void take(Result<Known> read, Clock::time_point began);

    std::mutex mutex_;
    bool reading_ = false;
    Result<std::shared_ptr<const Known>> last_; // read; null: nothing yet
    Clock::time_point began_{};                 // when that began
    std::map<std::string, Given> given_;        // by volume
};

// Adds what matters of the volume.
void add_volume(VolumeList::Known &known, Volume volume);

} // namespace bridge
