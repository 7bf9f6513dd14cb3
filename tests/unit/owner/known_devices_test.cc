// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/known_devices.h"
#include "tests/unit/fakes/make.h"
#include "tests/unit/flows/claims.h"
#include "tests/unit/owner/owner_bed.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

struct GpuBed : OwnerBed {
    GpuBed()
    {
        Conf conf;
        conf.device_gres = {{"gpu.example.com", "gpu", "g"}};
        context.conf = std::make_shared<const Conf>(conf);
    }
};

struct Bed : GpuBed {
    GangStore gangs;
    SyncTimes sync{context};
    KnownDevices devices{context, sync, gangs};

    void list_devices()
    {
        devices.replace(std::vector<ResourceSlice>{make_slice("kn1")});
        devices.replace(std::vector<DeviceClass>{make_class()});
    }

    static ResourceClaim claim(bool allocated)
    {
        ResourceClaim made = make_claim(claim_text("c", request_gpus(1)));
        made.allocated = allocated;
        return made;
    }
};

} // namespace

TEST_CASE("devices are known when slices and classes are listed")
{
    Bed bed;
    CHECK(!bed.devices.all_known());
    bed.list_devices();
    CHECK(bed.devices.known());
    CHECK(!bed.devices.all_known()); // claims are not listed
    bed.devices.replace(std::vector<ResourceClaim>{});
    CHECK(bed.devices.all_known());
}

TEST_CASE("a change of devices is reported once")
{
    Bed bed;
    CHECK(!bed.devices.pop_change()); // nothing is known
    bed.list_devices();
    CHECK(bed.devices.pop_change() == DeviceChange::others);
    CHECK(!bed.devices.pop_change());

    bed.devices.put(Bed::claim(true), false);
    CHECK(!bed.devices.pop_change());
    bed.devices.put(Bed::claim(false), false);
    CHECK(bed.devices.pop_change() == DeviceChange::freed);
    CHECK(!bed.devices.pop_change());
    bed.devices.put(Bed::claim(false), true);
    CHECK(bed.devices.pop_change() == DeviceChange::freed);

    bed.devices.put(make_slice("kn2"), false);
    CHECK(!bed.devices.pop_change()); // not more often than that
    bed.context.now += DeviceStore::pause;
    CHECK(bed.devices.pop_change() == DeviceChange::others);
}

TEST_CASE("a claim that changes names the gangs that need it")
{
    Bed bed;
    Pod pod = make_pod("p");
    PodClaim names;
    names.claim = "c";
    pod.resource_claims = {names};
    std::string uid = bed.gangs.put(pod);
    CHECK(bed.devices.put(Bed::claim(false), false).empty());

    bed.devices.add_user(bed.gangs.find(uid)->gang, pod);
    CHECK(bed.devices.put(Bed::claim(true), false) == std::set{uid});
    CHECK(bed.devices.put(Bed::claim(true), true) == std::set{uid});
    CHECK(bed.devices.put(Bed::claim(false), false).empty());
}
