// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/too_large.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

NodeSize size_of(const std::string &node, std::uint32_t cpus,
                 std::uint64_t gibibytes, GresCounts gres = {})
{
    return {node, cpus, MebiBytes{gibibytes * 1024}, std::move(gres)};
}

Gang asking(std::int64_t cpus, std::int64_t gibibytes,
            const std::string &gres = {})
{
    Gang gang = make_gang(
        make_pod("web", MilliCpu{cpus * 1000}, Bytes{gibibytes * gib}));
    if (!gres.empty()) {
        GangDevices devices;
        devices.gres = gres;
        gang.devices = std::make_shared<const GangDevices>(std::move(devices));
    }
    return gang;
}

const std::vector<NodeSize> two_kinds = {size_of("kn1", 16, 32),
                                         size_of("kn5", 8, 64)};

} // namespace

TEST_CASE("a Pod that some node could hold, and one of unknown nodes, go on")
{
    CHECK(too_large_message(asking(16, 32), two_kinds).empty());
    CHECK(too_large_message(asking(8, 64), two_kinds).empty());
    CHECK(too_large_message(asking(400, 1), {}).empty());
}

TEST_CASE("a Pod larger than each node is told both numbers, and only of what "
          "is too large")
{
    CHECK(too_large_message(asking(40, 1), two_kinds) ==
          "No node is large enough for the Pod: it asks for cpu=40, and the "
          "largest that it may have is kn1 with cpu=16. It waits for a larger "
          "node, or can be deleted and created again with less.");
    std::string memory = too_large_message(asking(1, 100), two_kinds);
    CHECK(memory.contains("it asks for memory=100Gi"));
    CHECK(memory.contains("kn5 with memory=64Gi"));
    CHECK_FALSE(memory.contains("cpu"));
    std::string both = too_large_message(asking(17, 65), two_kinds);
    CHECK(both.contains("cpu=17 and memory=65Gi"));
    CHECK(both.contains("kn1 with cpu=16 and kn5 with memory=64Gi"));
    CHECK(is_too_large(both));
    CHECK_FALSE(is_too_large("No Node satisfies disk=ssd"));
}

TEST_CASE("parts that no single node has together are told with such nodes")
{
    CHECK(too_large_message(asking(12, 48), two_kinds)
              .contains("it asks for cpu=12 and memory=48Gi together, and kn1 "
                        "has cpu=16 and memory=32Gi, kn5 has cpu=8 and "
                        "memory=64Gi"));
}

TEST_CASE("memory in odd numbers is told in mebibytes")
{
    Gang gang = make_gang(make_pod("web", {1000}, Bytes{(gib << 7) + 1}));

    CHECK(too_large_message(gang, two_kinds).contains("memory=131073Mi"));
}

TEST_CASE("GRES of devices are counted, by type and in all")
{
    std::vector<NodeSize> sizes = {
        size_of("g1", 16, 32, {{"gpu", 4}, {"gpu:a100", 4}}),
        size_of("g2", 16, 32, {{"gpu", 8}, {"gpu:h100", 8}})};

    CHECK(too_large_message(asking(1, 1, "gres/gpu:8"), sizes).empty());
    CHECK(too_large_message(asking(1, 1, "gres/gpu:a100:4"), sizes).empty());
    CHECK(too_large_message(asking(1, 1, "gres/gpu:9"), sizes)
              .contains("gres/gpu=9, and the largest that it may have is g2 "
                        "with gres/gpu=8"));
    CHECK(too_large_message(asking(1, 1, "gres/gpu:a100:5"), sizes)
              .contains("gres/gpu:a100=5"));
    CHECK(most_devices_message(asking(1, 1, "gres/gpu:9"), sizes) ==
          " It needs gres/gpu=9, and the most on a node is 8 (g2).");
    CHECK(most_devices_message(asking(1, 1, "gres/gpu:8"), sizes).empty());
    CHECK(most_devices_message(asking(1, 1), sizes).empty());
}

TEST_CASE("what is not known of a node is enough")
{
    std::vector<NodeSize> sizes = {size_of("h1", 16, 0)};
    sizes[0].memory.value = 1; // slurm.conf does not say
    sizes[0].gres_known = false;

    CHECK(too_large_message(asking(1, 4096, "gres/gpu:9"), sizes).empty());
    CHECK_FALSE(too_large_message(asking(17, 4096), sizes).contains("memory"));
}

TEST_CASE("of a gang the first Pod that is too large is named, each by itself")
{
    Gang gang = make_train({make_member("a", "2", MilliCpu{16000}),
                            make_member("b", "2", MilliCpu{17000})});
    CHECK(too_large_message(gang, two_kinds)
              .starts_with("No node is large enough for Pod b: it asks for "
                           "cpu=17"));

    gang = make_train({make_member("a", "2", MilliCpu{16000}),
                       make_member("b", "2", MilliCpu{16000})});
    CHECK(too_large_message(gang, two_kinds).empty());
}

TEST_CASE("what Slurm refuses for its size is told with its size")
{
    const std::string error = "Requested node configuration is not available";
    CHECK(asked_message(asking(12, 4, "gres/gpu:1"), error + " (requested: …)")
              .ends_with("The Pod asks for cpu=12, gres/gpu=1, memory=4Gi."));
    CHECK_FALSE(asked_message(asking(12, 4), "submit: More processors "
                                             "requested than permitted")
                    .empty());
    CHECK(asked_message(asking(12, 4), "Invalid account").empty());
}
