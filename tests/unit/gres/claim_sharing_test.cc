// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/claim_sharing.h"

#include "agent/gres/claim_cpus.h"
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

DeviceNeeds needs_of(const ResourceClaim &claim)
{
    DeviceNeeds needs;
    needs.claims = {std::make_shared<const ResourceClaim>(claim)};
    return needs;
}

std::string reason(const ResourceClaim &claim,
                   const std::set<std::string> &with_slurmd,
                   Counting counting = Counting::now,
                   const std::string &slurm_node = "kh1")
{
    DeviceCatalog catalog = catalog_of(slurm_node);
    return claims_in_use_reason(
        make_pod("web"), needs_of(claim),
        {catalog, with_slurmd,
         [&](const ResourceClaim &) { return counting; }});
}

bool waits_for_end(const std::string &reason)
{
    return reason ==
           "The ResourceClaim c has devices that no running job counts for "
           "this Pod: it waits until they are given back, and gets some by a "
           "job of its own.";
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

TEST_CASE("elsewhere a Pod follows only while a job counts the devices")
{
    CHECK(reason(claim_of("other"), {}, Counting::now).empty());
    CHECK(waits_for_end(reason(claim_of("other"), {}, Counting::nobody)));
    CHECK(waits_for_end(reason(claim_of(""), {}, Counting::nobody)));
    CHECK(reason(claim_of("other"), {}, Counting::soon) ==
          "The ResourceClaim c is about to get its devices for another Pod.");
    // It is a consumer: the job that counts the claim waits for it.
    CHECK(reason(claim_of("web"), {}, Counting::nobody).empty());
}

TEST_CASE("what Slurm does not count needs no job")
{
    ResourceClaim unlike = claim_of("other");
    unlike.devices.front().device = "gpu-1"; // which is in no index
    CHECK(reason(unlike, {}, Counting::nobody).empty());
    unlike.allocated_by_us = true; // a share, which never is in one
    CHECK(waits_for_end(reason(unlike, {}, Counting::nobody)));
    unlike.devices.clear(); // adminAccess
    CHECK(reason(unlike, {}, Counting::nobody).empty());
}

TEST_CASE("that somebody else allocated a claim helps nobody: the index tells")
{
    ResourceClaim claim = claim_of("other");
    claim.allocated_by_us = false; // users can write managedFields
    CHECK(waits_for_end(reason(claim, {}, Counting::nobody)));
    DeviceCatalog catalog;
    catalog.nodes["kh1"] =
        DeviceIndex::parse("k8sdev:1|gpu!a100@gpu.example.com/kh1:-gpu-0")
            .value(); // Slurm's count is without it
    CHECK_FALSE(counted_by_slurm(claim, catalog));
}

TEST_CASE("a claim with devices of a node with a slurmd whose indexes are not "
          "known is one Pod's at a time")
{
    DeviceCatalog catalog;
    Device device;
    device.driver = gpu.driver;
    device.pool = gpu.pool;
    device.name = gpu.device;
    DeviceScope scope;
    scope.kind = DeviceScope::Kind::node;
    scope.node = "kh1";
    device.scope = std::make_shared<const DeviceScope>(scope);
    DevicePool pool;
    pool.driver = gpu.driver;
    pool.name = gpu.pool;
    pool.devices = {std::make_shared<const Device>(device)};
    catalog.pools = {pool};
    ResourceClaim claim = claim_of("other");
    CHECK(slurmd_node_of(claim, catalog, {"kh1"}).empty());

    claim.allocated_by_us = true;

    CHECK(slurmd_node_of(claim, catalog, {"kh1"}) == "kh1");
    CHECK(slurmd_node_of(claim, catalog, {"kh2"}).empty());
    catalog.nodes["kh1"] = DeviceIndex(); // Slurm counts none of them
    CHECK(slurmd_node_of(claim, catalog, {"kh1"}).empty());
}

TEST_CASE("a job counts the claims that get devices by it, if users made them")
{
    DeviceRequest request;
    ResourceClaim claim = claim_of("");
    claim.allocated = false;
    DeviceNeeds needs = needs_of(claim);
    CHECK(claims_counted(make_pod("web"), needs).empty());
    needs.wanted.push_back({0, &request, {}, 1});
    CHECK(claims_counted(make_pod("web"), needs) ==
          std::vector<std::string>{"c"});
    request.admin_access = true;
    CHECK(claims_counted(make_pod("web"), needs).empty());

    request.admin_access = false;
    claim.pod_claim_name = "gpu"; // made from a template
    DeviceNeeds of_template = needs_of(claim);
    of_template.wanted = needs.wanted;
    CHECK(claims_counted(make_pod("web"), of_template).empty());
}

TEST_CASE("of a running Pod: the claims of which it is the first consumer")
{
    Pod pod = make_pod("web");
    CHECK(claims_counted(pod, needs_of(claim_of("web"))).empty());
    pod.node_name = "kh1";
    CHECK(claims_counted(pod, needs_of(claim_of("web"))) ==
          std::vector<std::string>{"c"});
    CHECK(claims_counted(pod, needs_of(claim_of("other"))).empty());
}

TEST_CASE("on nodes without slurmd Pods may share a claim that a job counts")
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

TEST_CASE("Pods of a gang cannot share devices of a node with a slurmd")
{
    DeviceCatalog catalog = catalog_of("kh1");
    ClaimFacts facts;
    auto claim = std::make_shared<const ResourceClaim>(claim_of("web-0"));
    facts.find_claim = [&](const ObjectKey &) { return claim; };
    std::vector<PodPtr> pods;
    for (const char *name : {"web-0", "web-1"}) {
        Pod pod = make_pod(name);
        pod.resource_claims = {{"gpu", "c", "", false, false}};
        pods.push_back(std::make_shared<const Pod>(pod));
    }
    CHECK(not_together_reason(pods, facts, catalog, {"kh1"}) ==
          "Pods web-0 and web-1 share the ResourceClaim c, but only one Pod at "
          "a time can have its devices of node kh1, which has a slurmd");
    CHECK(not_together_reason(pods, facts, catalog, {}).empty());
    pods.pop_back();
    CHECK(not_together_reason(pods, facts, catalog, {"kh1"}).empty());
}
