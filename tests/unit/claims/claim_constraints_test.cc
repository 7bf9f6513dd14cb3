// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/claims/constraints.h"

#include "tests/unit/flows/cpus.h"

#include <doctest/doctest.h>
#include <memory>
#include <vector>

using namespace bridge;

namespace {

// Requests a and b, and these constraints.
ResourceClaim claim_with(const std::string &constraints)
{
    return make_claim(
        claim_text("c", R"("requests":[)" + cpus("a", 1) + "," + cpus("b", 1) +
                            R"(],"constraints":[)" + constraints + "]"));
}

constexpr char match_numa[] = R"({"matchAttribute":"dra.cpu/numaNodeID"})";
constexpr char own_cpu[] = R"({"distinctAttribute":"dra.cpu/cpuID"})";

std::vector<DevicePtr> cpu_devices()
{
    std::vector<ResourceSlicePtr> slices = {
        std::make_shared<const ResourceSlice>(make_cpu_slice("kn1"))};
    return device_pools(slices).front().devices;
}

} // namespace

TEST_CASE("a device more is looked at alone, against those that are there")
{
    std::vector<DevicePtr> cpus = cpu_devices();
    ResourceClaim match = claim_with(match_numa);
    ResourceClaim distinct = claim_with(own_cpu);
    std::vector<ChosenDevice> chosen;
    for (std::size_t i = 0; i < 6; i++)
        chosen.push_back({"a", cpus[i], {}});

    int looks = 0;
    CHECK(goes_with(match, chosen, {"a", cpus[7], {}}, looks));
    CHECK(looks == 2); // the others are all alike
    CHECK_FALSE(goes_with(match, chosen, {"a", cpus[8], {}}, looks));
    looks = 0;
    CHECK(goes_with(distinct, chosen, {"b", cpus[6], {}}, looks));
    CHECK(looks == 7);
    CHECK_FALSE(goes_with(distinct, chosen, {"b", cpus[5], {}}, looks));
}

TEST_CASE("one by one they are what they are together")
{
    std::vector<DevicePtr> cpus = cpu_devices();
    for (const std::string &constraints :
         {std::string(match_numa), std::string(own_cpu),
          std::string(match_numa) + "," + own_cpu,
          std::string(R"({"requests":["b"],"matchAttribute":)"
                      R"("dra.cpu/cpuID"})"),
          std::string(R"({"matchAttribute":"dra.cpu/nothing"})")}) {
        CAPTURE(constraints);
        ResourceClaim claim = claim_with(constraints);
        for (std::size_t n = 0; n < 4096; n++) {
            std::vector<ChosenDevice> chosen = {
                {n & 1 ? "a" : "b", cpus[n >> 8], {}},
                {n & 2 ? "a" : "b", cpus[(n >> 4) & 15], {}}};
            ChosenDevice more{n & 4 ? "a" : "b", cpus[n & 15], {}};
            if (!unmet_constraint_reason(claim, chosen).empty())
                continue;
            int looks = 0;
            bool goes = goes_with(claim, chosen, more, looks);
            chosen.push_back(more);
            REQUIRE(goes == unmet_constraint_reason(claim, chosen).empty());
        }
    }
}

TEST_CASE(
    "an entry of a constraint has the choices of its request, and no others")
{
    std::vector<DevicePtr> cpus = cpu_devices();
    ResourceClaim claim = claim_with(
        R"({"requests":["a"],"matchAttribute":"dra.cpu/numaNodeID"})");
    std::vector<ChosenDevice> chosen = {{"a/first", cpus[0], {}},
                                        {"ab", cpus[8], {}}};

    CHECK(unmet_constraint_reason(claim, chosen) == "");
    chosen.push_back({"a/second", cpus[9], {}});
    CHECK(unmet_constraint_reason(claim, chosen)
              .contains("differs from another device's"));
}
