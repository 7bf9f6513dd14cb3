// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/node_pool.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a line says what an autoscaler makes")
{
    std::vector<NodePool> pools;
    REQUIRE(add_node_pool(pools, "default Nodes=32 CPUs=16 RealMemory=64000"));
    REQUIRE(add_node_pool(
        pools, "gpu\tNodes=4  CPUs=96 RealMemory=1000000 Gres=gpu:h100:8,nic:1 "
               "Labels=pool=gpu,zone=a,empty= Partitions=gpu,all "
               "Taints=nvidia.com/gpu=present:NoSchedule,x:NoExecute"));

    REQUIRE(pools.size() == 2);
    CHECK(pools[0] == NodePool{"default",
                               32,
                               16,
                               MebiBytes{64000},
                               "",
                               {{"karpenter.sh/nodepool", "default"}},
                               "",
                               {}});
    CHECK(pools[1].gres == "gpu:h100:8,nic:1");
    CHECK(pools[1].labels == std::map<std::string, std::string>{{"pool", "gpu"},
                                                                {"zone", "a"},
                                                                {"empty", ""}});
    CHECK(pools[1].partitions == "gpu,all");
    CHECK(pools[1].taints ==
          std::vector<std::string>{"nvidia.com/gpu=present:NoSchedule",
                                   "x:NoExecute"});
    CHECK(node_in(pools[1], 4) == "gpu-4");
    auto twice = add_node_pool(pools, "gpu Nodes=1 CPUs=1 RealMemory=1000");
    REQUIRE_FALSE(twice);
    CHECK(twice.error().message == "names pool \"gpu\" twice");
}

TEST_CASE("a pool that says nothing, or something else, is refused")
{
    for (const char *text : {"",
                             "Nodes=1 CPUs=1 RealMemory=1",
                             "p",
                             "p Nodes=1",
                             "p Nodes=1 CPUs=1",
                             "p Nodes=0 CPUs=1 RealMemory=1",
                             "p Nodes=10001 CPUs=1 RealMemory=1",
                             "p Nodes=1 CPUs=65534 RealMemory=1",
                             "p Nodes=1x CPUs=1 RealMemory=1",
                             "p Nodes=1 CPUs=1 RealMemory=64G",
                             "p Nodes=1 Nodes=2 CPUs=1 "
                             "RealMemory=1",
                             "p Nodes=1 CPUs=1 RealMemory=1 Sockets=2",
                             "p Nodes=1 CPUs=1 RealMemory=1 more",
                             "P Nodes=1 CPUs=1 RealMemory=1",
                             "-p Nodes=1 CPUs=1 RealMemory=1",
                             "p[1-4] Nodes=1 CPUs=1 RealMemory=1",
                             "p Nodes=1 CPUs=1 RealMemory=1 Gres=gpu",
                             "p Nodes=1 CPUs=1 RealMemory=1 Gres=gpu:a:b:1",
                             "p Nodes=1 CPUs=1 RealMemory=1 Gres=gpu:1,",
                             "p Nodes=1 CPUs=1 RealMemory=1 Gres=gpu:0",
                             "p Nodes=1 CPUs=1 RealMemory=1 Labels=",
                             "p Nodes=1 CPUs=1 RealMemory=1 Labels=a=b,a=c",
                             "p Nodes=1 CPUs=1 RealMemory=1 Labels==b",
                             "p Nodes=1 CPUs=1 RealMemory=1 Partitions=a,,b",
                             "p Nodes=1 CPUs=1 RealMemory=1 Taints=a=b",
                             "p Nodes=1 CPUs=1 RealMemory=1 Taints=a:Never"}) {
        CAPTURE(text);
        std::vector<NodePool> pools;
        auto added = add_node_pool(pools, text);
        REQUIRE_FALSE(added);
        CHECK(added.error().code == Code::rejected);
        CHECK(pools.empty());
    }
}
