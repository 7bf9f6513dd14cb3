// SPDX-License-Identifier: GPL-2.0-or-later
// Watches the objects of one API that defines the size of gangs. A cluster need
// not have that API: the agent asks for it at the start, and then once a minute
// until it exists. Without the right to read the objects, the API counts as
// absent. Runs on a thread of its own, which blocks, and tells the owner
// thread.
#pragma once

#include "agent/calls/access.h"
#include "agent/objects/group_spec.h"
#include "agent/owner/message.h"
#include "common/base/mailbox.h"
#include "common/kube/http.h"
#include "common/kube/reflector.h"

#include <stop_token>
#include <string>

namespace bridge {

// The defaults; tests use shorter ones.
struct GroupWatchTimes {
    std::chrono::milliseconds look{60'000}; // while the API is absent
    // when the API server does not answer
    std::chrono::milliseconds retry{2'000};
    ReflectorTimes reflector = {};
};

// Returns whether the API server has that API in its list of API groups. Errors
// are those of the request; Code::busy when the answer has no list.
Result<bool> has_api(Http &http, GroupApi api, std::stop_token stop);

class GroupWatch {
  public:
    GroupWatch(HttpEndpoint endpoint, GroupApi api, const Access &access,
               Mailbox<Message> &mailbox, GroupWatchTimes times = {});

    // Watches until stop is requested, and returns soon after that.
    void run(std::stop_token stop);

  private:
    bool wait_until_there(std::stop_token stop);
    void report_absent();
    void watch(std::stop_token stop);

    HttpEndpoint endpoint_;
    GroupApi api_;
    const Access &access_;
    Mailbox<Message> &mailbox_;
    GroupWatchTimes times_;
    std::string what_; // "watch podgroups.scheduling.k8s.io/v1alpha2"
    bool said_absent_ = false;
    bool failing_ = false;
};

} // namespace bridge
