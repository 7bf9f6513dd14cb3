// SPDX-License-Identifier: GPL-2.0-or-later
// The thread that sets the replicas of NodeSets, so that nobody waits for the
// API server. It begins with the object, and ends with it.
#pragma once

#include "agent/calls/write_gate.h"
#include "agent/workers/set_keeper.h"
#include "common/base/mailbox.h"
#include "common/base/result.h"
#include "common/kube/http.h"

#include <functional>
#include <stop_token>
#include <thread>

namespace bridge {

class SetScalerThread : public SetScaler {
  public:
    // Called by the thread when a write is over.
    using Done = std::function<void(const SetScale &, Result<>)>;

    // The gate must outlive this.
    SetScalerThread(HttpEndpoint endpoint, const WriteGate &gate, Done done);
    // Aborts what is under way; what has not begun is not written.
    ~SetScalerThread() override;

    void begin(SetScale scale) override;

  private:
    void run();

    HttpEndpoint endpoint_;
    const WriteGate &gate_;
    const Done done_;
    std::stop_source stop_;
    Mailbox<SetScale> scales_;
    std::jthread thread_; // last: it uses the above
};

} // namespace bridge
