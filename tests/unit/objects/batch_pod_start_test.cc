// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/pod_start.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

struct Said {
    std::string ready = "False"; // PodReadyToStartContainers
    std::string srun = "slurmk8s-srun-x";
    std::string volume = R"("configMap": {"name": "x"})";
    std::string waiting = "ContainerCreating";
};

std::string reason(const Said &said)
{
    std::string annotations =
        said.srun.empty() ? ""
                          : "\"slurmk8s/sbatch-srun\": \"" + said.srun + "\"";
    auto pod = Json::parse(
        R"({"metadata": {"annotations": {)" + annotations +
        R"(}}, "spec": {"volumes": [{"name": "a", "secret": {}}, {"name": "b", )" +
        said.volume +
        R"(}]}, "status": {"conditions": [{"type": "Ready", "status": "False"},
        {"type": "PodReadyToStartContainers", "status": ")" +
        said.ready +
        R"("}], "containerStatuses": [{"state": {"waiting": {"reason": ")" +
        said.waiting + R"(", "message": "words"}}}]}})");
    REQUIRE(pod.has_value());
    return not_started_reason(*pod);
}

} // namespace

TEST_CASE("an image that cannot be had keeps a container from its start")
{
    CHECK(reason({.ready = "True", .waiting = "ErrImagePull"}) ==
          "ErrImagePull: words");
    CHECK(reason({.waiting = "InvalidImageName"}) == "InvalidImageName: words");
    CHECK(reason({.ready = "True"}).empty());
}

TEST_CASE("a Pod with srun that its kubelet cannot make ready says so")
{
    CHECK(reason({}).contains("a volume or its network is missing"));
    CHECK(reason({.ready = "True"}).empty());
    CHECK(reason({.ready = "Unknown"}).empty());
    CHECK(reason({.srun = ""}).empty()); // its job has none
}

TEST_CASE("storage may take its time")
{
    for (const char *volume :
         {R"("persistentVolumeClaim": {"claimName": "c"})", R"("csi": {})",
          R"("nfs": {})", R"("ephemeral": {})"}) {
        CAPTURE(volume);
        CHECK(reason({.volume = volume}).empty());
    }
    CHECK_FALSE(reason({.volume = R"("hostPath": {"path": "/home"})"}).empty());
}
