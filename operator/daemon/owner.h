// SPDX-License-Identifier: GPL-2.0-or-later
// The owner thread: it alone knows the objects and decides. Whatever it hears
// is a reason to look at everything once more. It waits for the watches' first
// lists, since what is not listed yet is not absent. The lanes write; an object
// is looked at again when its last steps are made and the watches have told
// what became of them.
#pragma once

#include "common/base/mailbox.h"
#include "operator/daemon/lanes.h"
#include "operator/daemon/news.h"
#include "operator/daemon/rests.h"
#include "operator/daemon/watches.h"
#include "operator/decide/decide.h"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace bridge::slinky {

class Owner {
  public:
    struct Parts {
        Mailbox<News> &mailbox;
        Lanes &lanes;
        const Leader &leader;
        Metrics &metrics;
        Watches &watches;
    };

    // agent_image: that of slurmk8sd, or "".
    Owner(Parts parts, std::string agent_image) : parts_(parts)
    {
        store_.known.agent_image = std::move(agent_image);
    }

    // Runs until Stop, or until the Lease is lost.
    void run();

    // What is wrong, or "". May be called from every thread.
    std::string healthz() const;
    std::string readyz() const;

  private:
    bool hear(Clock::time_point deadline); // false: stop
    void heard(Acted made);
    void round();
    template <class Decide>
    void look_at(const std::string &kind, const Meta &meta, Decide decide);
    bool is_news(const std::string &uid, Clock::time_point now);
    void forget_gone();
    void publish();
    Clock::time_point next_round();

    Parts parts_;
    Store store_;
    // By the uid of an object: what has failed, what is under way, and what
    // the watches have yet to tell.
    Rests rests_;
    std::set<std::string> under_way_;
    bool changed_ = true; // since the last round; or it is time for one
    struct Awaited {
        std::vector<Seen> seen;
        Clock::time_point until;
    };
    std::map<std::string, Awaited> awaited_;
    std::atomic<Clock::time_point> looked_{Clock::now()};
    mutable std::mutex mutex_;
    std::string not_ready_ = "the first lists are not complete";
};

} // namespace bridge::slinky
