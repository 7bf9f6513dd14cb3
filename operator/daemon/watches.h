// SPDX-License-Identifier: GPL-2.0-or-later
// A thread for each kind of object and each namespace, which watches and pushes
// what it reads to the owner thread.
#pragma once

#include "common/base/mailbox.h"
#include "common/kube/reflector.h"
#include "operator/daemon/news.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace bridge::slinky {

class Watches {
  public:
    // namespaces: none means all.
    Watches(const HttpEndpoint &endpoint,
            const std::vector<std::string> &namespaces, Mailbox<News> &mailbox);
    ~Watches(); // ends the threads, even in the middle of a watch

    std::size_t count() const { return watches_.size(); }

  private:
    struct Watch {
        std::unique_ptr<ReflectorSink> sink;
        std::unique_ptr<Reflector> reflector;
    };

    void add_all(const HttpEndpoint &endpoint, const std::string &ns,
                 Mailbox<News> &mailbox);
    template <class Object>
    void add(const HttpEndpoint &endpoint, const std::string &api,
             const std::string &plural, const std::string &ns,
             Mailbox<News> &mailbox, Object (*parse)(const Json &),
             const std::string &kind = {}, const std::string &labels = {});

    std::vector<Watch> watches_;
    std::vector<std::jthread> threads_; // last: they use the above
};

} // namespace bridge::slinky
