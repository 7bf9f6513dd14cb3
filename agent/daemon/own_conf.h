// SPDX-License-Identifier: GPL-2.0-or-later
// Has an agent in a Pod follow its own k8s.conf, which the kubelet replaces
// there: a change ends the process in good order, and the next one starts with
// what the file has then. It needs no right, no Lease and no slurmctld for
// that.
#pragma once

#include "common/base/result.h"
#include "common/contract/conf.h"

#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace bridge {

// Thread-safe.
class OwnConf {
  public:
    // path: that of k8s.conf. text: what this process was started with. load
    // reads the file, and those that it names, as a start does.
    OwnConf(std::string path, std::string text,
            std::function<Result<Conf>()> load);

    // Whether the file has another text now with which an agent can start. A
    // text with a mistake, and a file that cannot be read, count as no change;
    // the mistake is logged once.
    bool changed();

  private:
    const std::string path_;
    const std::string text_;
    const std::function<Result<Conf>()> load_;
    std::mutex mutex_;
    std::string refused_; // the last text with a mistake
};

// Looks once a second, and calls a function once, on its own thread, when the
// file has changed.
class OwnConfThread {
  public:
    // own must outlive this.
    OwnConfThread(OwnConf &own, std::function<void()> on_change);

  private:
    void run(const std::stop_token &stop);

    OwnConf &own_;
    const std::function<void()> on_change_;
    std::jthread thread_; // last: it uses all of the above
};

} // namespace bridge
