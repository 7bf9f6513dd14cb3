// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/fit_counts.h"

#include "tests/unit/flows/claims.h"

#include <doctest/doctest.h>
#include <set>

using namespace bridge;

namespace {

using Names = std::set<std::string>;

constexpr char model_b[] = "device.attributes['gpu.example.com'].model == 'B'";
// Nobody can tell of model B.
constexpr char unclear_b[] =
    "device.attributes['gpu.example.com'].model == 'A' || "
    "device.attributes['gpu.example.com'].size == 1";

Result<std::int64_t> most(const DeviceCatalog &catalog,
                          const DeviceRequest &request, const Names &nodes)
{
    CelBudget budget(CelSelector::max_sum);
    return most_fitting(
        fit_counts(catalog, request, budget), request,
        [&](const std::string &node) { return nodes.contains(node); }, budget);
}

} // namespace

TEST_CASE("of the Nodes that may be the one counts that has most devices")
{
    DeviceCatalog catalog = make_catalog({{"kn1", 2}, {"kn2", 4}, {"kn3", 3}});
    DeviceRequest any = gpu_request("a");
    DeviceRequest b = gpu_request("a", model_b);

    CHECK(most(catalog, any, Names{"kn1", "kn2", "kn3"}).value() == 4);
    CHECK(most(catalog, any, Names{"kn1", "kn3"}).value() == 3);
    CHECK(most(catalog, any, Names{"kn1"}).value() == 2);
    CHECK(most(catalog, any, Names{}).value() == 0);
    CHECK(most(catalog, b, Names{"kn1", "kn3"}).value() == 1);
    CHECK(most(catalog, b, Names{"kn1"}).value() == 0);

    catalog.pools.at(1).complete = false; // kn2's
    CHECK(most(catalog, any, Names{"kn1", "kn2", "kn3"}).value() == 3);
    catalog.classes.clear();
    CHECK(most(catalog, any, Names{"kn1", "kn2", "kn3"}).value() == 0);
}

TEST_CASE("what cannot be told on one Node is no answer where that may be one")
{
    DeviceCatalog catalog = make_catalog({{"kn1", 2}, {"kn2", 4}});
    CelBudget budget(CelSelector::max_sum);
    FitCounts counts = fit_counts(catalog, gpu_request("a", unclear_b), budget);
    DeviceRequest other_name = gpu_request("b", unclear_b);
    auto most_on = [&](const Names &nodes) {
        return most_fitting(
            counts, other_name,
            [&](const std::string &node) { return nodes.contains(node); },
            budget);
    };

    CHECK(most_on(Names{"kn1"}).value() == 2);
    auto both = most_on(Names{"kn1", "kn2"});
    REQUIRE(!both.has_value());
    CHECK(both.error().code == Code::rejected);
    CHECK(both.error().message.starts_with("request b: "));
}

TEST_CASE("what is too much to do for all devices is no answer")
{
    DeviceCatalog catalog = make_catalog({{"kn1", 2}, {"kn2", 4}});
    DeviceRequest request = gpu_request("a", model_b);
    CelBudget budget(20);
    FitCounts counts = fit_counts(catalog, request, budget);

    CHECK(counts.too_much);
    CelBudget enough(100);
    auto most = most_fitting(
        counts, request, [](const std::string &) { return true; }, enough);
    REQUIRE(!most.has_value());
    CHECK(most.error().code == Code::rejected);
    CHECK(most.error().message ==
          "request a: too expensive to evaluate for so many devices");
}

TEST_CASE("the Nodes that are looked at for a Pod are counted")
{
    DeviceCatalog catalog = make_catalog({{"kn1", 4}, {"kn2", 4}, {"kn3", 4}});
    DeviceRequest request = gpu_request("a");
    CelBudget enough(CelSelector::max_sum);
    FitCounts counts = fit_counts(catalog, request, enough);
    auto none = [](const std::string &) { return false; };
    CelBudget pod(25); // five Nodes

    CHECK(most_fitting(counts, request, none, pod).value() == 0);
    CHECK(pod.left() == 10);
    auto more = most_fitting(counts, request, none, pod);
    REQUIRE(!more.has_value());
    CHECK(more.error().code == Code::rejected);
    CHECK(more.error().message ==
          "request a: the claims of the Pod have too many requests for so many "
          "nodes");
}
