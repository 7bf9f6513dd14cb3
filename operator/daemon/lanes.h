// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the steps that were decided, in a thread for each namespace. A request
// that hangs, as one on which a webhook sits, delays its own namespace and no
// other one. The first step of an object that fails ends its work, but for the
// status, which says so. Used by the owner thread.
#pragma once

#include "common/base/mailbox.h"
#include "operator/daemon/actor.h"
#include "operator/daemon/news.h"

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

namespace bridge::slinky {

class Lanes {
  public:
    struct Parts {
        HttpEndpoint endpoint;
        const Leader &leader;
        Metrics &metrics;
        std::string instance;   // names this process in Events
        Mailbox<News> &mailbox; // hears of what was made
    };

    explicit Lanes(Parts parts);
    ~Lanes() { stop(); }

    // To be called for an object only when its last work is finished.
    void begin(Work work);
    // The owner thread has heard what became of a work in this namespace.
    void finished(const std::string &ns);
    // Ends the threads of namespaces that have had no work for a minute.
    void tidy(Clock::time_point now);
    // Aborts what is under way, and ends all threads.
    void stop();

  private:
    struct Lane {
        Mailbox<Work> work;
        std::size_t pending = 0;
        Clock::time_point since; // the last work was finished
        std::jthread thread;     // last: it uses the above
    };

    void run(Lane &lane);

    Parts parts_;
    std::stop_source stop_;
    std::map<std::string, std::unique_ptr<Lane>> lanes_; // by namespace
};

} // namespace bridge::slinky
