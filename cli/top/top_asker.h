// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the agent's pages in a thread of its own, since that may block.
#pragma once

#include "cli/top/top_reader.h"
#include "common/base/owned_fd.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

namespace bridge {

class TopAsker {
  public:
    // Reads at once, and again so long after each read. Its thread blocks the
    // signals that the caller blocks.
    TopAsker(const Conf &conf, std::chrono::seconds pause);
    // Waits for a read that is under way: half a minute for each page at most.
    ~TopAsker() = default;

    // Can be read when there may be a view that was not taken yet.
    int fd() const { return news_.get(); }
    // Takes the newest view; nothing if it was taken before.
    std::optional<TopView> take();

  private:
    void run(const std::stop_token &stop);

    TopReader reader_;
    std::chrono::seconds pause_;
    OwnedFd news_; // an eventfd
    std::mutex mutex_;
    std::optional<TopView> view_;
    std::jthread thread_; // the last: it uses the others
};

} // namespace bridge
