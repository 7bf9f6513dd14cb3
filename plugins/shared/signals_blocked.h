// SPDX-License-Identifier: GPL-2.0-or-later
// Blocks all signals of this thread during a block, so that a thread which is
// started there has none: signals belong to slurmctld's own threads.
#pragma once

#include <csignal>
#include <pthread.h>

namespace bridge {

class SignalsBlocked {
  public:
    SignalsBlocked()
    {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked &) = delete;
    SignalsBlocked &operator=(const SignalsBlocked &) = delete;

  private:
    sigset_t before_;
};

} // namespace bridge
