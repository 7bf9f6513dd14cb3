// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/lease.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

const LeaseHolder us{"ctl1", "aaaa", "1"};
const std::string me = us.str();
const std::string before_us = "ctl1_aaaa_0";    // of our host and socket
const std::string other_socket = "ctl1_bbbb_7"; // of our host
const std::string another = "ctl2_cccc_9";

LeaseRecord held_by(const std::string &holder)
{
    LeaseRecord record;
    record.holder = holder;
    record.version = "5";
    return record;
}

constexpr BootClock::time_point start{100s};

} // namespace

TEST_CASE("a holder's name says host and place, and is never another's")
{
    LeaseHolder first = this_holder("ctl1", "/run/slurmk8s/hook.sock");
    LeaseHolder second = this_holder("ctl1", "/run/slurmk8s/hook.sock");
    LeaseHolder elsewhere = this_holder("ctl1", "/run/other.sock");

    CHECK(first.str() != second.str());
    CHECK(first.same_place(second.str()));
    CHECK_FALSE(first.same_place(elsewhere.str()));
    CHECK_FALSE(first.same_place(""));
    CHECK(holder_host(first.str()) == "ctl1");
    CHECK(holder_host("somebody") == "somebody");
}

TEST_CASE("each row of the table in lease.h")
{
    struct {
        const char *what;
        std::string holder;
        bool holding;
        bool expired;
        Control control;
        LeaseMove move;
    } const table[] = {
        {"ours", me, true, false, Control::ours, LeaseMove::renew},
        {"ours, and nobody looked for long", me, true, true, Control::ours,
         LeaseMove::renew},
        {"ours, and no slurmctld lives", me, true, false, Control::unknown,
         LeaseMove::renew},
        {"ours, and slurmctld failed over", me, true, false, Control::others,
         LeaseMove::give_back},
        {"ours, of which the answer was lost", me, false, false, Control::ours,
         LeaseMove::renew},
        {"taken from us", another, true, false, Control::ours, LeaseMove::lost},
        {"taken by our successor", before_us, true, false, Control::ours,
         LeaseMove::lost},
        {"removed under us", "", true, true, Control::ours, LeaseMove::lost},
        {"free", "", false, false, Control::ours, LeaseMove::take},
        {"free, and not our turn", "", false, false, Control::others,
         LeaseMove::wait},
        {"free, and nobody knows whose turn", "", false, false,
         Control::unknown, LeaseMove::wait},
        {"of our earlier life", before_us, false, false, Control::ours,
         LeaseMove::take},
        {"of our earlier life, not our turn", before_us, false, true,
         Control::others, LeaseMove::wait},
        {"of another socket of our host", other_socket, false, false,
         Control::ours, LeaseMove::wait},
        {"of another host", another, false, false, Control::ours,
         LeaseMove::wait},
        {"of another host that is gone", another, false, true, Control::ours,
         LeaseMove::take},
        {"of another host that is gone, not our turn", another, false, true,
         Control::others, LeaseMove::wait},
        {"of another host that is gone, and nobody knows", another, false, true,
         Control::unknown, LeaseMove::wait},
    };
    for (const auto &row : table) {
        CAPTURE(row.what);
        CHECK(lease_move(held_by(row.holder), us, row.holding, row.expired,
                         row.control) == row.move);
    }
}

TEST_CASE("a Lease expires by our clock, counted from its last change")
{
    LeaseWatch watch;
    LeaseRecord record = held_by(another);
    record.renewed = "1970-01-01T00:00:00.000000Z"; // of a clock that is wrong
    watch.see(record, start);

    CHECK_FALSE(watch.expired(start));
    CHECK_FALSE(watch.expired(start + 14s));
    watch.see(record, start + 14s); // no change
    CHECK(watch.expired(start + 15s));

    record.renewed = "1970-01-01T00:00:02.000000Z";
    watch.see(record, start + 15s);
    CHECK_FALSE(watch.expired(start + 29s));
    CHECK(watch.expired(start + 30s));
}

TEST_CASE("what is written when it changes hands, is renewed and given back")
{
    LeaseRecord first = taken({}, us, "t1");
    CHECK(first.holder == me);
    CHECK(first.duration == lease_duration);
    CHECK(first.acquired == "t1");
    CHECK(first.renewed == "t1");
    CHECK(first.transitions == 0);
    CHECK(first.version.empty());

    first.version = "8";
    LeaseRecord renewed = taken(first, us, "t2");
    CHECK(renewed.acquired == "t1");
    CHECK(renewed.renewed == "t2");
    CHECK(renewed.transitions == 0);
    CHECK(renewed.version == "8");

    LeaseRecord free = given_back(renewed, "t3");
    CHECK(free.holder.empty());
    CHECK(free.version == "8");

    LeaseRecord next = taken(free, {"ctl2", "cccc", "9"}, "t4");
    CHECK(next.holder == another);
    CHECK(next.transitions == 1);
    CHECK(next.duration == lease_duration);
}
