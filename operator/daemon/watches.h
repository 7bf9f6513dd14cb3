// SPDX-License-Identifier: GPL-2.0-or-later
// A thread for each kind of object and each namespace, which watches and pushes
// what it reads to the owner thread.
#pragma once

#include "common/base/mailbox.h"
#include "common/kube/reflector.h"
#include "operator/daemon/news.h"

#include <deque>
#include <memory>
#include <set>
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

    // How many of them must have listed before anything is decided: all but
    // that of Nodes, and those that begin later.
    std::size_t count() const { return count_; }

    // Watches the ConfigMaps of a namespace as well, from now on; at most one
    // thread may call it. A second call for a namespace does nothing.
    void watch_files(const std::string &ns);

  private:
    struct Watch {
        std::unique_ptr<ReflectorSink> sink;
        std::unique_ptr<Reflector> reflector;
        std::jthread thread; // last: it uses the above
    };

    void add_all(const HttpEndpoint &endpoint, const std::string &ns,
                 Mailbox<News> &mailbox);
    template <class Object>
    void add(const HttpEndpoint &endpoint, const std::string &api,
             const std::string &plural, const std::string &ns,
             Mailbox<News> &mailbox, Object (*parse)(const Json &),
             const std::string &kind = {}, const std::string &labels = {});

    void start(Watch &watch);

    const HttpEndpoint endpoint_;
    Mailbox<News> &mailbox_;
    std::deque<Watch> watches_;
    std::size_t count_ = 0;
    std::set<std::string> file_namespaces_;
};

} // namespace bridge::slinky
