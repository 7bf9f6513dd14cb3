// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the steps that were decided, one after the other, and tells of them by
// Events. Writes only while the Lease is ours. Used by the thread of a lane.
#pragma once

#include "common/kube/http.h"
#include "operator/daemon/leader.h"
#include "operator/daemon/metrics.h"
#include "operator/daemon/work.h"

#include <cstdint>
#include <string>

namespace bridge::slinky {

class Actor {
  public:
    // instance: names this process in Events.
    Actor(const HttpEndpoint &endpoint, const Leader &leader, Metrics &metrics,
          std::string instance);

    bool may_act() const;
    Result<> act(const Step &step, const About &about);
    // Tells of a step that failed.
    void complain(const Step &step, const About &about, const std::string &why);

  private:
    Result<HttpReply> send(const Step &step);
    void tell(const Told &told, const About &about);

    Http http_;
    const Leader &leader_;
    Metrics &metrics_;
    std::string instance_;
    std::uint64_t events_ = 0;
};

} // namespace bridge::slinky
