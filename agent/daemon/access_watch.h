// SPDX-License-Identifier: GPL-2.0-or-later
// The thread that asks the API server which rights the agent has, at the start
// and from time to time, so that a right that is granted later needs no
// restart. It tells the owner thread about changes.
#pragma once

#include "agent/calls/access.h"
#include "agent/owner/news.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace bridge {

AccessNews access_news(const Result<AccessReview> &review);

// How often it asks while a right is missing, and otherwise.
inline constexpr std::chrono::seconds access_interval_lacking{30};
inline constexpr std::chrono::seconds access_interval{600};

class AccessWatch {
  public:
    // news is called on this thread whenever the result changes.
    AccessWatch(HttpEndpoint endpoint, const Conf &conf, Access &access,
                std::function<void(AccessNews)> news);

    // Asks once more at once, for example after SIGHUP. May be called from any
    // thread.
    void ask_now();

  private:
    void run(std::stop_token stop);
    void wait(std::chrono::milliseconds delay, const std::stop_token &stop);

    HttpEndpoint endpoint_;
    const Conf conf_;
    Access &access_;
    std::function<void(AccessNews)> news_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool now_ = false;
    std::jthread thread_; // last: it uses all of the above
};

} // namespace bridge
