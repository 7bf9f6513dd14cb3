// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/kept_plan.h"

#include "tests/unit/fakes/make.h"
#include "tests/unit/flows/claims.h"

#include <doctest/doctest.h>
#include <functional>
#include <set>
#include <string>

using namespace bridge;

namespace {

// A Pod with a claim, and its job's second node.
struct Setting {
    Job job;
    ResourceClaim claim = make_claim(claim_text("c", request_gpus(1)));
    GresWish wish{"gpu", "", false};
    std::string consumer = "pod";
    std::vector<DevicePool> pools;
    ClaimStore claims;

    Setting()
    {
        job.ref.sluid.value = 7;
        job.gres_on = {{}, {{"gpu", "", 1, {0}}}};
        job.cpu_ids_on = {{}, {0, 1}};
        std::vector<ResourceSlicePtr> slices = {
            std::make_shared<const ResourceSlice>(make_slice("kn1"))};
        pools = device_pools(slices);
        claims.replace({});
    }

    std::string key() const
    {
        DeviceNeeds needs;
        needs.claims = {std::make_shared<const ResourceClaim>(claim)};
        needs.consumers = {consumer};
        needs.wanted.push_back(
            {0, &needs.claims[0]->requests[0].choices[0], wish, 1});
        std::string key = plan_key(needs, job, 1);
        for (std::uint64_t change : changes_of(pools, claims))
            key += std::to_string(change);
        return key;
    }
};

} // namespace

TEST_CASE("a plan is kept while nothing of what it follows from changes")
{
    CHECK(Setting().key() == Setting().key());
    Setting other;
    other.job.gres_on[0] = {{"gpu", "", 1, {1}}}; // on another node
    CHECK(other.key() == Setting().key());

    std::set<std::string> keys{Setting().key()};
    auto differs = [&](const std::function<void(Setting &)> &edit) {
        Setting setting;
        edit(setting);
        return keys.insert(setting.key()).second;
    };
    CHECK(differs([](Setting &s) { s.job.ref.sluid.value = 8; }));
    CHECK(differs([](Setting &s) { s.job.gres_on[1][0].indexes = {1}; }));
    CHECK(differs([](Setting &s) { s.job.cpu_ids_on[1] = {0, 2}; }));
    CHECK(differs([](Setting &s) { s.claim.resource_version = "99"; }));
    CHECK(differs([](Setting &s) { s.claim.uid = "other"; }));
    CHECK(differs([](Setting &s) { s.consumer = "other"; }));
    CHECK(differs([](Setting &s) { s.wish.type = "a100"; }));
    CHECK(differs([](Setting &s) { s.wish.amounts["gpumem"] = 1; }));
    CHECK(differs([](Setting &s) {
        s.claims.hold({"default", "d"}, "uid-of-d", "gang",
                      {{"gpu.example.com", "kn1", "gpu-3"}}, Clock::now());
    }));
}
