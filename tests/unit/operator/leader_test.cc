// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/leader.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;
using namespace std::chrono_literals;

namespace {

// A Lease in memory.
struct OneLease : LeaseStore {
    LeaseRecord record;
    bool fails = false;
    int writes = 0;

    Result<LeaseRecord> read() override
    {
        if (fails)
            return fail(Code::busy, "no answer");
        return record;
    }

    Result<LeaseRecord> write(const LeaseRecord &next) override
    {
        if (fails)
            return fail(Code::busy, "no answer");
        if (next.version != record.version)
            return fail(Code::conflict, "somebody was faster");
        record = next;
        record.version = std::to_string(++writes);
        return record;
    }
};

constexpr SteadyTime start{1000s};

} // namespace

TEST_CASE(
    "a free Lease is taken and renewed, and trusted for less than it lasts")
{
    OneLease lease;
    Leader leader(lease, "us");
    CHECK_FALSE(leader.may_write(start));
    leader.step(start, "t1");
    CHECK(lease.record.holder == "us");
    CHECK(lease.record.transitions == 0);
    CHECK(leader.may_write(start + 11s));
    CHECK_FALSE(leader.may_write(start + 12s));
    leader.step(start + 2s, "t2");
    CHECK(lease.record.renewed == "t2");
    CHECK(lease.record.acquired == "t1");
    CHECK(leader.may_write(start + 13s));
    CHECK(leader.waits_for().empty());
}

TEST_CASE("another's Lease is taken only after it was not renewed for its time")
{
    OneLease lease;
    lease.record.holder = "them";
    lease.record.version = "5";
    Leader leader(lease, "us");
    leader.step(start, "t1");
    leader.step(start + 14s, "t2");
    CHECK_FALSE(leader.may_write(start + 14s));
    CHECK(leader.waits_for() == "them has the Lease");
    lease.record.renewed = "t9";
    leader.step(start + 16s, "t3");
    CHECK(lease.record.holder == "them");
    leader.step(start + 31s, "t4");
    CHECK(lease.record.holder == "us");
    CHECK(lease.record.transitions == 1);
}

TEST_CASE("who has lost the Lease never writes again")
{
    OneLease lease;
    Leader leader(lease, "us");
    leader.step(start, "t1");
    lease.record.holder = "them";
    leader.step(start + 2s, "t2");
    CHECK(leader.is_lost());
    CHECK_FALSE(leader.may_write(start + 2s));
    lease.record.holder.clear();
    leader.step(start + 4s, "t3");
    leader.give_back("t4");
    CHECK(lease.record.holder.empty());
    CHECK_FALSE(leader.may_write(start + 4s));
}

TEST_CASE("without an API server the trust runs out")
{
    OneLease lease;
    Leader leader(lease, "us");
    leader.step(start, "t1");
    lease.fails = true;
    leader.step(start + 10s, "t2");
    CHECK(leader.may_write(start + 11s));
    CHECK_FALSE(leader.may_write(start + 12s));
    CHECK(leader.waits_for().contains("no answer"));
    lease.fails = false;
    leader.step(start + 13s, "t3");
    CHECK(leader.may_write(start + 13s));
}

TEST_CASE("a Lease that is given back is free at once")
{
    OneLease lease;
    Leader leader(lease, "us");
    leader.step(start, "t1");
    leader.give_back("t2");
    CHECK(lease.record.holder.empty());
    CHECK_FALSE(leader.may_write(start));
}
