// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the steps that were decided, one after the other, and tells of them by
// Events. Writes only while the Lease is ours. Used by the owner thread.
#pragma once

#include "common/kube/http.h"
#include "operator/daemon/leader.h"
#include "operator/daemon/metrics.h"
#include "operator/decide/step.h"

#include <cstdint>
#include <string>

namespace bridge::slinky {

class Actor {
  public:
    // instance: names this process in Events.
    Actor(const HttpEndpoint &endpoint, const Leader &leader, Metrics &metrics,
          std::string instance);

    // about: the NodeSet that the step is for, for Events.
    Result<> act(const Step &step, const Meta &about);

  private:
    Result<HttpReply> send(const Step &step);
    void tell(const Told &told, const Meta &about);

    Http http_;
    const Leader &leader_;
    Metrics &metrics_;
    std::string instance_;
    std::uint64_t events_ = 0;
};

} // namespace bridge::slinky
