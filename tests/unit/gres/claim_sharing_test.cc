// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/claim_sharing.h"

#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

const DeviceId gpu{"gpu.example.com", "kh1", "gpu-0"};

DeviceCatalog catalog_of(const std::string &slurm_node)
{
    DeviceCatalog made;
    made.nodes[slurm_node] =
        DeviceIndex::parse("k8sdev:1|gpu!a100@gpu.example.com/kh1:gpu-0")
            .value();
    return made;
}

ResourceClaim claim_of(const std::string &pod)
{
    ResourceClaim claim;
    claim.key = {"default", "c"};
    claim.allocated = true;
    claim.devices = {gpu};
    if (!pod.empty())
        claim.reserved_for.push_back({"pods", pod, "uid-" + pod});
    return claim;
}

std::string reason(const ResourceClaim &claim,
                   const std::set<std::string> &with_slurmd)
{
    DeviceNeeds needs;
    needs.claims = {std::make_shared<const ResourceClaim>(claim)};
    return claims_in_use_reason(make_pod("web"), needs, catalog_of("kh1"),
                                with_slurmd);
}

} // namespace

TEST_CASE("a claim with devices of a node with a slurmd is one Pod's at a time")
{
    CHECK(
        reason(claim_of("other"), {"kh1"}) ==
        "The ResourceClaim c has devices of node kh1, which has a slurmd: only "
        "one Pod at a time can use them, and this Pod did not get them.");
    CHECK_FALSE(reason(claim_of(""), {"kh1"}).empty());
    CHECK(reason(claim_of("web"), {"kh1"}).empty());
}

TEST_CASE("elsewhere Pods may share a claim")
{
    CHECK(reason(claim_of("other"), {}).empty());
    CHECK(reason(claim_of("other"), {"kh2"}).empty());
    ResourceClaim unlike = claim_of("other");
    unlike.devices.front().device = "gpu-1"; // which Slurm does not count
    CHECK(reason(unlike, {"kh1"}).empty());
    ResourceClaim free = claim_of("other");
    free.allocated = false;
    CHECK(reason(free, {"kh1"}).empty());
}
