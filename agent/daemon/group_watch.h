// SPDX-License-Identifier: GPL-2.0-or-later
// Watches the objects of one API that defines the size of gangs. A cluster need
// not have that API: the agent looks for it at the start, once a minute until
// it exists, and when a Pod names such an object. Without the right to read the
// objects, the API counts as absent. Runs on a thread of its own, which blocks,
// and tells the owner thread.
#pragma once

#include "agent/calls/access.h"
#include "agent/objects/group_spec.h"
#include "agent/owner/group_looks.h"
#include "agent/owner/message.h"
#include "common/base/mailbox.h"
#include "common/kube/http.h"
#include "common/kube/reflector.h"

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

namespace bridge {

// The defaults; tests use shorter ones.
struct GroupWatchTimes {
    std::chrono::milliseconds look{60'000}; // while the API is absent
    // At least, between two looks; also when the API server does not answer.
    std::chrono::milliseconds distance{2'000};
    ReflectorTimes reflector = {};
};

// Returns the version of that API to use, or null if the API server has none of
// them: by its list of API groups, and by its list of that group's resources.
// wanted: a Pod names such an object. Then it also asks for the objects of a
// CRD, since these can be made a moment before the lists have them. Errors are
// those of the requests; Code::busy when an answer is no list.
Result<const GroupApiPath *> find_api(Http &http, GroupApi api, bool wanted,
                                      const std::stop_token &stop);

class GroupWatch {
  public:
    GroupWatch(HttpEndpoint endpoint, GroupApi api, const Access &access,
               GroupLooks &looks, Mailbox<Message> &mailbox,
               GroupWatchTimes times = {});

    // Watches until stop is requested, and returns soon after that.
    void run(std::stop_token stop);

  private:
    bool wait_until_there(const std::stop_token &stop);
    void report_absent();
    void watch(const std::stop_token &stop);

    HttpEndpoint endpoint_;
    GroupApi api_;
    const Access &access_;
    GroupLooks &looks_;
    Mailbox<Message> &mailbox_;
    GroupWatchTimes times_;
    std::string what_;            // "watch podgroups.scheduling.k8s.io"
    const GroupApiPath *path_;    // the version in use, or the preferred one
    GroupLooks::Number look_ = 0; // the last one
    // The last one that was answered by "absent".
    std::optional<GroupLooks::Number> said_absent_;
    bool failing_ = false;
};

} // namespace bridge
