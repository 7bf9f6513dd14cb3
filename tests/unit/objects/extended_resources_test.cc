// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/extended_resources.h"

#include "agent/objects/objects.h"
#include "tests/unit/fakes/test_data.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

std::vector<ContainerAsks> of_spec(const std::string &spec)
{
    return extended_resources_of(json_of("{\"spec\":{" + spec + "}}"));
}

std::string container(const std::string &name, const std::string &requests,
                      const std::string &more = "")
{
    return R"({"name":")" + name + R"(",)" + more +
           R"("resources":{"requests":{)" + requests + "}}}";
}

} // namespace

TEST_CASE("a DeviceClass may offer what is outside Kubernetes' own names")
{
    for (const char *name :
         {"example.com/gpu", "nvidia.com/mig-1g.10gb",
          "deviceclass.resource.kubernetes.io/gpu.example.com"})
        CHECK_MESSAGE(is_extended_resource(name), name);
    for (const char *name :
         {"cpu", "memory", "hugepages-2Mi", "pods", "gpu", "kubernetes.io/x",
          "foo.kubernetes.io/x", "requests.example.com/gpu", ""})
        CHECK_MESSAGE(!is_extended_resource(name), name);
}

TEST_CASE("places are those among all sorted names of a container's requests")
{
    auto asks =
        of_spec(R"("containers":[)" + container("plain", R"("cpu":"1")") + "," +
                container("main", R"("memory":"1","z.io/x":"3","cpu":"1",)"
                                  R"("a.io/x":"1k","b.io/none":"0")") +
                "]");

    REQUIRE(asks.size() == 1);
    CHECK(asks[0].container == "main");
    CHECK(asks[0].index == 1);
    CHECK(asks[0].amounts ==
          std::vector<ExtendedAmount>{{"a.io/x", 1000, 0}, {"z.io/x", 3, 4}});
}

TEST_CASE("init containers come first, and sidecars stay")
{
    auto asks = of_spec(
        R"("initContainers":[)" + container("init", R"("a.io/x":"1")") + "," +
        container("side", R"("a.io/x":"1")", R"("restartPolicy":"Always",)") +
        R"(],"containers":[)" + container("main", R"("a.io/x":"1")") + "]");

    REQUIRE(asks.size() == 3);
    CHECK(asks[0].ends_first);
    CHECK_FALSE(asks[1].ends_first);
    CHECK_FALSE(asks[2].ends_first);
    CHECK(asks[2].index == 2);
}

TEST_CASE("amounts that are none ask for nothing, huge ones are bounded")
{
    auto asks = of_spec(
        R"("containers":[)" +
        container("main", R"("a.io/x":"-1","b.io/x":"many","c.io/x":[1],)"
                          R"("d.io/x":"4E")") +
        "]");

    REQUIRE(asks.size() == 1);
    CHECK(asks[0].amounts ==
          std::vector<ExtendedAmount>{{"d.io/x", 1'000'000, 3}});
}

TEST_CASE("a Pod of a real API server")
{
    Pod pod = pod_from(json_file("pod-extended.json"));

    CHECK(pod.extended == std::vector<ContainerAsks>{
                              {"main", 0, false, {{"example.com/gpu", 2, 1}}}});
    CHECK(pod.extended_claim == "extres-extended-resources-bdmpr");
    CHECK(pod.unfit_reasons.empty());
    CHECK(pod.needs_devices());
    CHECK(pod_from(json_file("pod-running.json")).extended.empty());
}
