// SPDX-License-Identifier: GPL-2.0-or-later
// A Lease (coordination.k8s.io) as a value, and where it is kept.
#pragma once

#include "common/base/result.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace bridge {

// How long a Lease lasts that is not renewed, by the watcher's own clock.
inline constexpr std::chrono::seconds lease_duration{15};

struct LeaseRecord {
    std::string holder; // "": nobody
    std::chrono::seconds duration{lease_duration};
    std::string renewed; // the holder's clock: only compared, never believed
    std::string acquired;
    std::int64_t transitions = 0;
    std::string version; // resourceVersion; "": there is no Lease

    bool operator==(const LeaseRecord &) const = default;
};

class LeaseStore {
  public:
    virtual ~LeaseStore() = default;

    // An empty record when there is no Lease.
    virtual Result<LeaseRecord> read() = 0;
    // Makes it, or replaces exactly the version in the record; what was
    // written. Code::conflict: somebody else was faster.
    virtual Result<LeaseRecord> write(const LeaseRecord &record) = 0;
};

} // namespace bridge
