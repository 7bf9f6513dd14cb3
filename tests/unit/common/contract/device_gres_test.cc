// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/device_gres.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE(
    "each DeviceClass has a GRES, and a type of its own name or the given")
{
    auto list = parse_device_gres(
        "a100.example.com:gpu:a100, gpu.example.com:gpu ,nvidia.com/gpu:gpu,"
        "example.com/nic:nic:cx7");

    REQUIRE(list);
    CHECK(*list ==
          std::vector<DeviceGres>{{"a100.example.com", "gpu", "a100"},
                                  {"gpu.example.com", "gpu", "gpu.example.com"},
                                  {"nvidia.com/gpu", "gpu", "nvidia.com-gpu"},
                                  {"example.com/nic", "nic", "cx7"}});
    CHECK_FALSE(list->at(0).is_resource());
    CHECK(list->at(2).is_resource());
    CHECK(parse_device_gres(text_of(*list)) == *list);
}

TEST_CASE("a DeviceClass may be Slurm's own CPUs, which have no type")
{
    auto list = parse_device_gres("dra.cpu:cpu,gpu.example.com:gpu:a");

    REQUIRE(list);
    CHECK(list->at(0) == DeviceGres{"dra.cpu", "cpu", ""});
    CHECK(list->at(0).is_cpus());
    CHECK_FALSE(list->at(1).is_cpus());
    CHECK(text_of(*list) == "dra.cpu:cpu,gpu.example.com:gpu:a");
    CHECK(parse_device_gres(text_of(*list)) == *list);
}

TEST_CASE("what Slurm or Kubernetes could not read is refused by name")
{
    struct {
        std::string text, words;
    } table[] = {
        {"", "not DEVICECLASS:GRES"},
        {"a:gpu,", "not DEVICECLASS:GRES"},
        {"gpu.example.com", "not DEVICECLASS:GRES"},
        {":gpu", "not DEVICECLASS:GRES"},
        {"a:gpu:t:2", "not DEVICECLASS:GRES"},
        {"a:gp u", "not DEVICECLASS:GRES"},
        {"a:gpu=1", "not DEVICECLASS:GRES"},
        {"a:gpu.x", "not DEVICECLASS:GRES"},
        {"a/b/c:gpu", "not DEVICECLASS:GRES"},
        {"/b:gpu", "not DEVICECLASS:GRES"},
        {"a\n:gpu", "not DEVICECLASS:GRES"},
        {"a:gpu:100", "needs a type"}, // Slurm's parser: a count
        {"123:gpu", "needs a type"},
        {"a:gpu:x|y", "needs a type"},
        {std::string(64, 'a') + ":gpu", "needs a type"},
        {"a:gpu,a:nic", "names a twice"},
        {"dra.cpu:cpu:p-core", "no type for Slurm's own CPUs"},
        {"example.com/cpu:cpu", "needs a DeviceClass"},
    };
    for (const auto &[text, words] : table) {
        CAPTURE(text);
        auto list = parse_device_gres(text);
        REQUIRE_FALSE(list);
        CHECK(list.error().message.contains(words));
    }
}
