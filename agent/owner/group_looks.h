// SPDX-License-Identifier: GPL-2.0-or-later
// Requests of the owner thread to look at once whether the API server has an
// API of Pod groups. The owner thread asks when a new Pod names a group of an
// API that was absent at the last look; the thread that watches this API takes
// the request. Looks are numbered: only a look that began after a Pod was seen
// says what held when it was created. All Pods that ask before the next look
// begins share it, and looks keep a distance. Thread-safe.
#pragma once

#include "agent/objects/group_spec.h"
#include "common/base/mailbox.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>

namespace bridge {

class GroupLooks {
  public:
    using Number = std::uint64_t; // 0: no look

    // Requests a look, and returns its number. The answer to it, or to a later
    // one, is the answer to the caller.
    Number ask(GroupApi api);

    // For the thread that looks. begin() is called just before the request to
    // the API server. It waits until the distance since the last look is over,
    // and returns the number of this one. wait() waits until a look is
    // requested, at most for the interval. Both return when stop is requested.
    Number begin(GroupApi api, std::chrono::milliseconds distance,
                 const std::stop_token &stop);
    void wait(GroupApi api, std::chrono::milliseconds interval,
              const std::stop_token &stop);

  private:
    struct Looks {
        Number asked = 0;
        Number begun = 0;
        std::optional<Clock::time_point> last; // when the last one began
    };

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::map<GroupApi, Looks> looks_;
};

} // namespace bridge
