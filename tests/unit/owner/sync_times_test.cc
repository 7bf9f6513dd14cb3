// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/sync_times.h"
#include "tests/unit/owner/owner_bed.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

struct Bed : OwnerBed {
    SyncTimes sync{context};

    bool is_due() const { return sync.next() <= context.now; }
    // One comparison that takes this long.
    bool compare(seconds time)
    {
        bool changed = sync.begin();
        pass(time);
        sync.succeeded();
        return changed;
    }
};

} // namespace

TEST_CASE("nodes are compared at the start, and then from time to time")
{
    Bed bed;
    CHECK(bed.is_due());

    CHECK(bed.compare(seconds(0)));
    CHECK_FALSE(bed.is_due());

    bed.pass(bed.context.conf->node_interval);
    CHECK(bed.is_due());
    CHECK_FALSE(bed.compare(seconds(0))); // nothing has changed
}

TEST_CASE("a change while nodes are compared is for the next comparison")
{
    Bed bed;
    bed.sync.begin();
    bed.sync.sync_now();
    CHECK_FALSE(bed.is_due());

    bed.sync.succeeded();
    CHECK(bed.is_due());
    CHECK(bed.compare(seconds(0)));
}

TEST_CASE("comparing takes half of the time at most")
{
    Bed bed;
    bed.sync.begin();
    bed.pass(seconds(4));
    bed.sync.sync_now();
    bed.sync.succeeded();

    bed.pass(seconds(3));
    CHECK_FALSE(bed.is_due());
    bed.pass(seconds(1));
    CHECK(bed.is_due());
}

TEST_CASE("a pause before a retry does not delay a change")
{
    Bed bed;
    bed.compare(seconds(0));

    bed.sync.retry_in(seconds(30));
    bed.sync.sync_by(bed.context.now + seconds(5));
    bed.sync.retry_in(seconds(30));
    bed.pass(seconds(5));

    CHECK(bed.is_due());
}

TEST_CASE("a comparison for later delays nothing else")
{
    Bed bed;
    bed.compare(seconds(0));
    bed.sync.sync_at(bed.context.now + seconds(4));
    CHECK_FALSE(bed.is_due());
    bed.pass(seconds(1));
    bed.sync.sync_when_due();
    CHECK(bed.is_due());

    CHECK(bed.compare(seconds(0))); // it was for both
    bed.pass(seconds(3));
    CHECK_FALSE(bed.is_due());

    bed.sync.sync_at(bed.context.now + seconds(1));
    bed.pass(seconds(1));
    CHECK(bed.is_due());
    CHECK(bed.compare(seconds(0)));

    bed.sync.sync_at(bed.context.now);
    bed.sync.begin();
    bed.sync.sync_at(bed.context.now);
    bed.pass(seconds(2));
    bed.sync.succeeded();
    bed.pass(seconds(1));
    CHECK_FALSE(bed.is_due()); // it rests as long as it took
    bed.pass(seconds(1));
    CHECK(bed.is_due());
}

TEST_CASE("a comparison that failed is repeated after its pause")
{
    Bed bed;
    bed.sync.begin();
    bed.sync.failed(seconds(2));
    CHECK_FALSE(bed.is_due());

    bed.pass(seconds(2));
    CHECK(bed.is_due());
}
