// SPDX-License-Identifier: GPL-2.0-or-later
// When an object whose writes have failed is tried again: after a pause that
// grows from a second to a minute, with a random part. A new generation of the
// object is tried at once, since that may mend it. Used by one thread.
#pragma once

#include "common/base/backoff.h"
#include "common/base/mailbox.h"
#include "operator/decide/decide.h"

#include <map>
#include <optional>
#include <random>
#include <string>

namespace bridge::slinky {

class Rests {
  public:
    void failed(const Meta &about, Failures failures, Clock::time_point now);
    void succeeded(const std::string &uid) { rests_.erase(uid); }

    bool holds(const Meta &about, Clock::time_point now) const;
    // Why its writes failed the last time; nothing if they did not.
    const Failures &failures(const std::string &uid) const;

    std::size_t size() const { return rests_.size(); }
    // When the next object is to be tried again.
    std::optional<Clock::time_point> next_end(Clock::time_point now) const;

    // Forgets the objects for which this is false.
    template <class Known> void keep(Known is_known)
    {
        std::erase_if(
            rests_, [&](const auto &entry) { return !is_known(entry.first); });
    }

  private:
    struct Rest {
        Failures failures;
        std::int64_t generation = 0;
        Clock::time_point until;
        Backoff backoff{std::chrono::seconds(1), std::chrono::seconds(60)};
    };

    std::map<std::string, Rest> rests_; // by the uid of the object
    std::minstd_rand random_{std::random_device{}()};
};

} // namespace bridge::slinky
