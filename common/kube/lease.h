// SPDX-License-Identifier: GPL-2.0-or-later
// A Lease (coordination.k8s.io) as a value, and the interface of its store.
#pragma once

#include "common/base/result.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace bridge {

// How long a Lease is valid without renewal, by the watcher's own clock.
inline constexpr std::chrono::seconds lease_duration{15};

struct LeaseRecord {
    std::string holder; // "": none
    std::chrono::seconds duration{lease_duration};
    std::string renewed; // by the holder's clock: compare only, never trust
    std::string acquired;
    std::int64_t transitions = 0;
    std::string version; // resourceVersion; "": the Lease does not exist

    bool operator==(const LeaseRecord &) const = default;
};

class LeaseStore {
  public:
    virtual ~LeaseStore() = default;

    // Returns an empty record if the Lease does not exist.
    virtual Result<LeaseRecord> read() = 0;
    // Creates the Lease, or replaces exactly the version in the record. Returns
    // what was written. Code::conflict if somebody else has changed it.
    virtual Result<LeaseRecord> write(const LeaseRecord &record) = 0;
};

} // namespace bridge
