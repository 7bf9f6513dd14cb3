// SPDX-License-Identifier: GPL-2.0-or-later
// A Lease in memory, for several holders: versions guard it as in the API
// server. Used by one thread.
#pragma once

#include "agent/daemon/lease.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace bridge {

class FakeLease : public LeaseStore {
  public:
    LeaseRecord record;           // version "": there is none
    std::optional<Error> refuses; // every call, while it is set
    bool loses_answers = false;   // does what it is told all the same
    int writes = 0;
    std::function<void()> while_reading = [] {}; // before the answer is made

    Result<LeaseRecord> read() override
    {
        while_reading();
        if (refuses)
            return std::unexpected(*refuses);
        return record;
    }

    Result<LeaseRecord> write(const LeaseRecord &wish) override
    {
        if (refuses)
            return std::unexpected(*refuses);
        if (wish.version != record.version)
            return fail(Code::conflict, "the object has been modified");
        record = wish;
        record.version = std::to_string(++versions_);
        writes++;
        if (loses_answers)
            return fail(Code::uncertain, "the connection broke");
        return record;
    }

  private:
    int versions_ = 0;
};

} // namespace bridge
