// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/volume_list.h"
#include "tests/unit/fakes/make_volumes.h"

#include <doctest/doctest.h>
#include <stdexcept>

using namespace bridge;
using std::chrono::seconds;

namespace {

const Clock::time_point start{std::chrono::hours(1)};

struct Bed {
    VolumeList list;
    int reads = 0;
    VolumeList::Read read = [this] {
        reads++;
        VolumeList::Known known;
        add_volume(known, make_volume("v" + std::to_string(reads), "kn1"));
        return Result<VolumeList::Known>(std::move(known));
    };

    bool has(const std::string &volume, Clock::time_point now)
    {
        auto view = list.view(now, read);
        return view && view->known->free.contains(volume);
    }
};

} // namespace

TEST_CASE("one list of volumes serves all for some seconds")
{
    Bed bed;
    for (int i = 0; i < 1000; i++)
        CHECK(bed.has("v1", start + std::chrono::milliseconds(i)));
    CHECK(bed.reads == 1);

    CHECK(bed.has("v2", start + VolumeList::max_age));
    CHECK(bed.reads == 2);
}

TEST_CASE("while one reads the list, nobody else does or waits for it")
{
    Bed bed;
    Code code = Code::internal;
    VolumeList::Read slow = [&] {
        auto other = bed.list.view(start, bed.read);
        if (!other)
            code = other.error().code;
        else
            CHECK(other->known->free.contains("v1"));
        return bed.read();
    };
    REQUIRE(bed.list.view(start, slow).has_value());
    CHECK(code == Code::busy); // there was none before

    auto later = bed.list.view(start + VolumeList::max_age, slow);
    REQUIRE(later.has_value());
    CHECK(later->known->free.contains("v2"));
    CHECK(bed.reads == 2);
}

TEST_CASE("a list that fails is not read by everybody, and again soon")
{
    Bed bed;
    int failures = 0;
    VolumeList::Read fails = [&]() -> Result<VolumeList::Known> {
        if (failures++ == 0)
            throw std::runtime_error("out of memory");
        return fail(Code::denied, "no");
    };
    for (int i = 0; i < 100; i++)
        CHECK(bed.list.view(start, fails).error().code == Code::busy);
    CHECK(failures == 1);
    CHECK(
        bed.list.view(start + VolumeList::failure_pause, fails).error().code ==
        Code::denied);

    CHECK(bed.has("v1", start + 2 * VolumeList::failure_pause));
}

TEST_CASE("what was given away is known until a list must show it")
{
    Bed bed;
    CHECK(bed.has("v1", start));
    bed.list.give("v1", "ns/data", start + seconds(1));
    CHECK(bed.list.view(start + seconds(2), bed.read)->given.at("v1") ==
          "ns/data");
    auto late = start + VolumeList::given_time;
    CHECK(bed.list.view(late, bed.read)->given.contains("v1"));
    late += VolumeList::max_age;
    CHECK_FALSE(bed.list.view(late, bed.read)->given.contains("v1"));
}

TEST_CASE("only free volumes, and those that name a claim, are kept")
{
    VolumeList::Known known;
    Volume free = make_volume("free", "kn1");
    Volume meant = make_volume("meant", "kn1");
    meant.claimed_by = "ns/data";
    meant.claimed_uid = "uid-data";
    Volume bound = make_volume("bound", "kn1");
    bound.claimed_by = "ns/other";
    bound.phase = "Bound";
    Volume released = make_volume("released", "kn1");
    released.phase = "Released";
    Volume going = make_volume("going", "kn1");
    going.deleting = true;
    for (const Volume &one : {free, meant, bound, released, going})
        add_volume(known, one);

    CHECK(known.free.size() == 1);
    CHECK(known.free.contains("free"));
    CHECK(known.meant.size() == 2); // the controller may bind a claim later
    CHECK(known.meant.find("ns/data")->second.volume == "meant");
    CHECK(known.meant.find("ns/data")->second.uid == "uid-data");
}

TEST_CASE("there is an end to the free volumes that are kept")
{
    VolumeList::Known known;
    for (std::size_t i = 0; i < VolumeList::most_free + 10; i++)
        add_volume(known, make_volume(std::to_string(1000000 - i), "kn1"));
    CHECK(known.free.size() == VolumeList::most_free);
    CHECK_FALSE(known.free.contains("999999"));
}
