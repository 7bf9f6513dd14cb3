// SPDX-License-Identifier: GPL-2.0-or-later
// Tells the owner thread each time a watch fails, and once when it works again.
// Used by the watch's thread.
#pragma once

#include "agent/owner/message.h"
#include "common/base/mailbox.h"

#include <string>
#include <utility>

namespace bridge {

class WatchFailures {
  public:
    // what is watched, as in WatchState.
    WatchFailures(std::string what, Mailbox<Message> &mailbox)
        : what_(std::move(what)), mailbox_(mailbox)
    {
    }

    void failing(const Error &error)
    {
        failing_ = true;
        mailbox_.push(WatchState{what_, error.message});
    }

    void working()
    {
        if (std::exchange(failing_, false))
            mailbox_.push(WatchState{what_, {}});
    }

  private:
    std::string what_;
    Mailbox<Message> &mailbox_;
    bool failing_ = false;
};

} // namespace bridge
