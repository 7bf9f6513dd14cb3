// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and writes the Lease object in the API server. One LeaseApi belongs to
// one thread.
#pragma once

#include "common/kube/http.h"
#include "common/kube/lease.h"

#include <string>

namespace bridge {

class LeaseApi : public LeaseStore {
  public:
    LeaseApi(HttpEndpoint endpoint, std::string ns, std::string name);

    Result<LeaseRecord> read() override;
    Result<LeaseRecord> write(const LeaseRecord &record) override;

  private:
    std::string ns_;
    std::string name_;
    Http http_;
};

} // namespace bridge
