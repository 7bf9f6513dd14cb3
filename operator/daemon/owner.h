// SPDX-License-Identifier: GPL-2.0-or-later
// The owner thread: it alone knows the objects, decides, and writes. Whatever
// it hears is a reason to look at everything once more. It waits for the
// watches' first lists, since what is not listed yet is not absent.
#pragma once

#include "common/base/mailbox.h"
#include "operator/daemon/actor.h"
#include "operator/daemon/news.h"
#include "operator/decide/decide.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>

namespace bridge::slinky {

class Owner {
  public:
    struct Parts {
        Mailbox<News> &mailbox;
        Actor &actor;
        const Leader &leader;
        Metrics &metrics;
        std::size_t watches; // how many there are
    };

    explicit Owner(Parts parts) : parts_(parts) {}

    // Runs until Stop, or until the Lease is lost.
    void run();

    // What is wrong, or "". May be called from every thread.
    std::string healthz() const;
    std::string readyz() const;

  private:
    bool hear(Clock::time_point deadline); // false: stop
    void round();
    void make(const std::string &uid, const Meta &about,
              const std::vector<Step> &steps);
    void publish();
    Clock::time_point next_round();

    Parts parts_;
    Store store_;
    std::map<std::string, Failures> failures_; // by the uid of the object
    unsigned failed_rounds_ = 0;
    std::atomic<Clock::time_point> looked_{Clock::now()};
    mutable std::mutex mutex_;
    std::string not_ready_ = "the first lists are not complete";
};

} // namespace bridge::slinky
