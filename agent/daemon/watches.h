// SPDX-License-Identifier: GPL-2.0-or-later
// The reflectors of the agent: one thread for the Pods of each scheduler name,
// one for the Pods of all others, one for Nodes, one for Namespaces, one for
// each API that defines the size of gangs, and, where Slurm counts devices, one
// each for ResourceSlices, DeviceClasses and ResourceClaims. They read objects
// and push messages to the owner thread.
#pragma once

#include "agent/calls/access.h"
#include "agent/daemon/group_watch.h"
#include "agent/owner/message.h"
#include "common/base/mailbox.h"
#include "common/contract/conf.h"
#include "common/kube/http.h"
#include "common/kube/reflector.h"

#include <memory>
#include <thread>
#include <vector>

namespace bridge {

class Watches {
  public:
    Watches(const HttpEndpoint &endpoint, const Conf &conf,
            const Access &access, GroupLooks &looks, Mailbox<Message> &mailbox);
    // Ends the threads, even in the middle of a watch.
    ~Watches();

  private:
    struct Watch {
        std::unique_ptr<ReflectorSink> sink;
        std::unique_ptr<Reflector> reflector;
        Feature needs = Feature::base; // starts when the rights are there
    };

    void add(const HttpEndpoint &endpoint, const std::string &path,
             const std::string &selector, std::unique_ptr<ReflectorSink> sink,
             const ReflectorTimes &times = {}, Feature needs = Feature::base);
    void add_devices(const HttpEndpoint &endpoint, Mailbox<Message> &mailbox);
    template <class Work> void start(Work work); // on a thread of its own

    std::vector<Watch> watches_;
    std::vector<std::unique_ptr<GroupWatch>> group_watches_;
    std::vector<std::jthread> threads_; // last: they use the above
};

} // namespace bridge
