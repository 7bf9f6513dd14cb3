// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/claim_cpus.h"

#include "tests/unit/fakes/make.h"
#include "tests/unit/flows/cpus.h"

#include <doctest/doctest.h>
#include <memory>

using namespace bridge;

namespace {

constexpr char group_result[] =
    R"({"request":"part","driver":"dra.cpu","pool":"kn1",)"
    R"("device":"cpudevnuma000","consumedCapacity":{"dra.cpu/cpu":"4"},)"
    R"("shareID":"8f4474d0-b89b-4660-ae22-ba4ddc3c74ff"})";

std::string cpu_result(int cpu)
{
    return std::format(R"({{"request":"cpu","driver":"dra.cpu","pool":"kn1",)"
                       R"("device":"cpudev{:03}"}})",
                       cpu);
}

// CPUs of a Pod with a claim that has these, as for one whose job is lost.
std::uint32_t cpus_with(const std::string &results)
{
    auto claim = std::make_shared<const ResourceClaim>(make_claim(claim_text(
        "c", R"("requests":[)" + cpus("part", 1) + "," + cpus("cpu", 2) + "]",
        "", R"({"allocation":{"devices":{"results":[)" + results + "]}}}")));
    DeviceNeeds needs;
    needs.claims = {claim};
    needs.consumers = {"uid-web"};
    DeviceCatalog catalog;
    catalog.gres = {{"dra.cpu", cpu_gres}};
    catalog.counted = {{"dra.cpu", "cpu", cpu_gres, *Quantity::parse("1")}};
    Pod pod = make_pod("web");
    pod.resource_claims = {{"cpu", "c", "", false, false}};
    pod.cpus.containers = {{ContainerCpus::Kind::app, {1000}, {{"cpu", ""}}}};
    GangDevices devices;
    record_cpus(pod, needs, catalog, devices);
    auto found = devices.cpus.find(pod.uid);
    return found == devices.cpus.end() ? 0 : found->second;
}

} // namespace

TEST_CASE("CPUs of a claim are those of its shares and its devices together")
{
    CHECK(cpus_with(group_result) == 4);
    CHECK(cpus_with(cpu_result(8) + "," + cpu_result(9)) == 2);
    CHECK(cpus_with(std::string(group_result) + "," + cpu_result(8) + "," +
                    cpu_result(9)) == 6);
}
