// SPDX-License-Identifier: GPL-2.0-or-later
// Watches the objects of one API that say how large gangs are. A cluster need
// not have it: that is asked for at the start, and once a minute until it is
// there; without the right to read them it counts as absent. Runs on a thread
// of its own, which blocks; tells the owner thread.
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

// Tests have shorter ones.
struct GroupWatchTimes {
    std::chrono::milliseconds look{60'000}; // while the API is absent
    std::chrono::milliseconds retry{2'000}; // when nobody answers
    ReflectorTimes reflector = {};
};

// Whether the API server has that API: its list of groups says so, or does not.
Result<bool> has_api(Http &http, GroupApi api, std::stop_token stop);

class GroupWatch {
  public:
    GroupWatch(HttpEndpoint endpoint, GroupApi api, const Access &access,
               Mailbox<Message> &mailbox, GroupWatchTimes times = {});

    // Returns soon after stop is requested.
    void run(std::stop_token stop);

  private:
    bool wait_until_there(std::stop_token stop);
    void say_absent();
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
