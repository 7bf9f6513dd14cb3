// SPDX-License-Identifier: GPL-2.0-or-later
// The Lease object in the API server. One LeaseApi belongs to one thread.
#pragma once

#include "common/kube/http.h"
#include "agent/daemon/lease.h"
#include "agent/calls/write_gate.h"

#include <string>

namespace bridge {

class LeaseApi : public LeaseStore {
  public:
    LeaseApi(HttpEndpoint endpoint, std::string ns, std::string name,
             const WriteGate &gate);

    Result<LeaseRecord> read() override;
    Result<LeaseRecord> write(const LeaseRecord &record) override;

  private:
    std::string ns_;
    std::string name_;
    const WriteGate &gate_;
    Http http_;
};

} // namespace bridge
