// SPDX-License-Identifier: GPL-2.0-or-later
// A cluster with GPUs, and a gang whose Pods have a claim each.
#pragma once

#include "tests/unit/flows/claim_world.h"
#include "tests/unit/flows/gang_world.h"

#include <doctest/doctest.h>
#include <set>

namespace bridge {

struct ClaimGangWorld : GangWorld<ClaimWorld> {
    using GangWorld::GangWorld;

    // The claim is that Pod's alone, and has so many devices of its node, none
    // of which is among the others' yet.
    void check_claim(int i, const ResourceClaim &one, std::size_t devices,
                     std::set<DeviceId> &others) const
    {
        CHECK(one.devices.size() == devices);
        for (const DeviceId &device : one.devices) {
            CHECK(device.pool == node_of(name(i)));
            CHECK(others.insert(device).second);
        }
        REQUIRE(one.reserved_for.size() == 1);
        CHECK(one.reserved_for.front().uid == pod(name(i))->uid);
    }
};

// A Train is a ClaimGangWorld whose put_gang() makes so many Pods of a gang,
// with so many devices each, and whose check_devices() looks at their claims.

// Its check_ready() is what must hold of all Pods when the first one is bound.
template <class Train> void check_bound_when_all_are_ready()
{
    int count = 4, nodes = 2;
    SUBCASE("in one part") {}
    SUBCASE("in several parts, for as many workers")
    {
        count = 20;
        nodes = 5;
    }
    Train world(nodes);
    world.put_gang(count, 1);
    for (int steps = 0; world.kube.count("bind") == 0 && steps < 5000; steps++)
        world.step(1);

    world.check_ready(count);
    world.settle();
    CHECK(world.bound(count) == count);
    world.check_devices(count, 1);
}

template <class Train, class Then> void check_kills_while_bound(Then then)
{
    for (int steps = 1; steps < 120; steps++) {
        CAPTURE(steps);
        Train world;
        world.put_gang(4, 2);
        world.step(steps);
        world.start_agent();
        world.pass(std::chrono::seconds(10));

        CHECK(world.slurm.jobs().size() == 1);
        CHECK(world.bound(4) == 4);
        world.check_devices(4, 2);
        then(world);
    }
}

} // namespace bridge
