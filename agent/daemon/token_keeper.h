// SPDX-License-Identifier: GPL-2.0-or-later
// The thread that renews the agent's own token: it looks at the token's file
// once a minute, or every ten minutes while a renewal keeps failing. When half
// of the token's life is over it asks the API server for another one and
// replaces the file. It never touches a token that does not expire or that a
// kubelet renews. A token that something else renews is left alone as long as
// that does it.
#pragma once

#include "agent/calls/access.h"
#include "common/kube/http.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace bridge {

// Looks once, and renews the token if it is due and this process has the right
// and can write the file. Blocks for one request at most. Returns the problem:
// why the token is not renewed although it should have been by now, or "".
std::string keep_token(const HttpEndpoint &endpoint, const Access &access,
                       std::chrono::sys_seconds now);

class TokenKeeper {
  public:
    // tell is called on this thread whenever the problem changes; "": it is
    // solved. access must outlive the keeper.
    using Tell = std::function<void(std::string problem)>;
    TokenKeeper(HttpEndpoint endpoint, const Access &access, Tell tell);

    // Looks once more at once, for example after SIGHUP. May be called from any
    // thread.
    void look_now();

  private:
    void run(std::stop_token stop);
    void wait(const std::stop_token &stop, std::chrono::seconds delay);

    HttpEndpoint endpoint_;
    const Access &access_;
    Tell tell_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool now_ = false;
    std::jthread thread_; // last: it uses all of the above
};

} // namespace bridge
