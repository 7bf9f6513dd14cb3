// SPDX-License-Identifier: GPL-2.0-or-later
// The reflectors of the agent: one thread for the Pods of each scheduler name,
// one for those of all others, one for Nodes, one for Namespaces. They read objects
// and push messages.
#pragma once

#include "agent/http.h"
#include "agent/mailbox.h"
#include "agent/message.h"
#include "agent/reflector.h"
#include "common/conf.h"

#include <memory>
#include <thread>
#include <vector>

namespace bridge {

class Watches {
  public:
    Watches(const HttpEndpoint &endpoint, const Conf &conf,
            Mailbox<Message> &mailbox);
    // Ends the threads, also in the middle of a watch.
    ~Watches();

  private:
    struct Watch {
        std::unique_ptr<ReflectorSink> sink;
        std::unique_ptr<Reflector> reflector;
    };

    void add(const HttpEndpoint &endpoint, const std::string &path,
             const std::string &selector, std::unique_ptr<ReflectorSink> sink,
             const ReflectorTimes &times = {});

    std::vector<Watch> watches_;
    std::vector<std::jthread> threads_; // last: they use the above
};

} // namespace bridge
