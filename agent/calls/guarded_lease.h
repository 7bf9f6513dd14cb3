// SPDX-License-Identifier: GPL-2.0-or-later
// Passes each write of the Lease through the write gate. The gate does not ask
// for permission here, because the Lease is what gives it, but each write is a
// fault point.
#pragma once

#include "agent/calls/write_gate.h"
#include "common/kube/lease.h"

namespace bridge {

class GuardedLease : public LeaseStore {
  public:
    GuardedLease(LeaseStore &store, const WriteGate &gate)
        : store_(store), gate_(gate)
    {
    }

    Result<LeaseRecord> read() override { return store_.read(); }
    Result<LeaseRecord> write(const LeaseRecord &record) override
    {
        return gate_.pass_unasked(Write::lease,
                                  [&] { return store_.write(record); });
    }

  private:
    LeaseStore &store_;
    const WriteGate &gate_;
};

} // namespace bridge
