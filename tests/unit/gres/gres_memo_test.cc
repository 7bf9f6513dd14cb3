// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/memo.h"

#include "tests/unit/flows/claims.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

constexpr char model_a[] = "device.attributes['gpu.example.com'].model == 'A'";

std::shared_ptr<const DeviceCatalog> catalog_of(int devices)
{
    return std::make_shared<const DeviceCatalog>(
        make_catalog({{"kn1", devices}}));
}

auto counts_for(GresMemo &memo,
                const std::shared_ptr<const DeviceCatalog> &catalog,
                const DeviceRequest &request)
{
    CelBudget budget(CelSelector::max_sum);
    return memo.counts_for(catalog, request, budget);
}

auto gres_for(GresMemo &memo,
              const std::shared_ptr<const DeviceCatalog> &catalog,
              const DeviceRequest &request)
{
    CelBudget budget(CelSelector::max_sum);
    return memo.gres_for(catalog, request, budget);
}

} // namespace

TEST_CASE("the devices of all Nodes are counted once for all alike requests")
{
    GresMemo memo;
    auto catalog = catalog_of(4);

    auto first = counts_for(memo, catalog, gpu_request("a"));

    CHECK(counts_for(memo, catalog, gpu_request("a")) == first);
    CHECK(counts_for(memo, catalog, gpu_request("b")) == first);
    auto narrower = counts_for(memo, catalog, gpu_request("a", model_a));
    REQUIRE(narrower->nodes.size() == 1);
    CHECK(narrower->nodes[0].count == 2);
    CHECK(first->nodes.at(0).count == 4);
    CHECK(counts_for(memo, catalog, gpu_request("a")) == first);
}

TEST_CASE("another catalog is counted anew, whoever comes with it first")
{
    GresMemo memo;
    auto catalog = catalog_of(4);
    auto first = counts_for(memo, catalog, gpu_request("a"));

    auto more = counts_for(memo, catalog_of(5), gpu_request("a"));
    CHECK(more->nodes.at(0).count == 5);

    auto again = counts_for(memo, catalog, gpu_request("a"));
    CHECK(again != first); // the memory is of one catalog only
    CHECK(gres_for(memo, catalog_of(3), gpu_request("a")).value().gres ==
          "gpu");
    CHECK(counts_for(memo, catalog, gpu_request("a")) != again);
}

TEST_CASE("a request that has a GRES is looked at once, whatever its name")
{
    GresMemo memo;
    auto catalog = std::make_shared<DeviceCatalog>(make_catalog({{"kn1", 4}}));
    auto wish = gres_for(memo, catalog, gpu_request("a", model_a));
    REQUIRE(wish.has_value());

    catalog->pools.clear(); // as no catalog ever does: it would be seen

    auto again = gres_for(memo, catalog, gpu_request("b", model_a));
    CHECK(again.value() == wish.value());
    CHECK(!gres_for(memo, catalog, gpu_request("b")).has_value());
}

TEST_CASE("a request that has none is told so by its own name, and once")
{
    GresMemo memo;
    auto catalog = std::make_shared<DeviceCatalog>(make_catalog({{"kn1", 4}}));
    auto reason = [&](const std::string &name) {
        auto wish = gres_for(memo, catalog,
                             gpu_request(name, "device.driver == 'none'"));
        return wish ? "it has one" : wish.error().message;
    };

    CHECK(reason("a").contains(" request a "));
    CHECK(reason("b").contains(" request b "));
    catalog->classes.clear();
    CHECK(reason("a").contains(" request a "));
    CHECK(reason("c").contains("there is no DeviceClass"));
}

TEST_CASE("what a count has cost is charged to each who asks")
{
    GresMemo memo;
    auto catalog = catalog_of(4);
    CelBudget first(10'000), again(10'000);

    auto counts = memo.counts_for(catalog, gpu_request("a", model_a), first);
    CHECK(memo.counts_for(catalog, gpu_request("a", model_a), again) == counts);

    CHECK(first.left() < 10'000);
    CHECK(again.left() == first.left());
}
