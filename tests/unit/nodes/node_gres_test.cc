// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/gres.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

using Counts = std::vector<GresCount>;

DeviceIndex index_of(const std::string &text)
{
    auto index = DeviceIndex::parse("k8sdev:1|" + text);
    REQUIRE(index);
    return *index;
}

} // namespace

TEST_CASE("what Slurm says of a node's GRES is read type by type")
{
    CHECK(gres_counts("gpu:a100:2,gpu:h100:1,nic:3") ==
          Counts{{"gpu", "a100", 2}, {"gpu", "h100", 1}, {"nic", "", 3}});
    CHECK(gres_counts("gpu:a100:2(S:0-1),gpu:a100:1(S:0,1)") ==
          Counts{{"gpu", "a100", 3}});
    CHECK(gres_counts("").empty());
    CHECK(gres_counts("gpu:0").empty());
    CHECK(gres_counts("gpu,:,gpu:x,((,gpu:-1,:2,(null)").empty());
    CHECK(gres_text({{"gpu", "a100", 2}, {"nic", "", 3}}) ==
          "gpu:a100:2,nic:3");
    CHECK(gres_text({}) == "");
}

TEST_CASE(
    "the indexes that jobs have are read, and doubted where they are short")
{
    GresUsed used =
        gres_used("gpu:a100:3(IDX:0,2-3),gpu:h100:0(IDX:N/A),nic:0");
    CHECK(used.indexes ==
          std::set<GresIndex>{{"gpu", 0}, {"gpu", 2}, {"gpu", 3}});
    CHECK(used.unknown.empty());

    for (const char *text :
         {"gpu:a100:3(IDX:0,2)", // Slurm's buffer was full
          "gpu:a100:3(IDX:0,2-", "gpu:a100:1(IDX:1023456)", "gpu:a100:1",
          "gpu:a100:2(IDX:3-2)", "gpu:a100:1(IDX:x)"}) {
        CAPTURE(text);
        CHECK(gres_used(text).indexes.empty());
        CHECK(gres_used(text).unknown == std::set<std::string>{"gpu"});
    }
    CHECK(gres_used("") == GresUsed{});
}

TEST_CASE("GresConf has a record for each run of a type, so that indexes agree")
{
    CHECK(gres_conf(index_of("gpu!a@d/p:0:1!h@d/p:2!a@d/p:3|nic!x@e/p:0")) ==
          "count=2,name=gpu,type=a,file=/dev/null+"
          "count=1,name=gpu,type=h,file=/dev/null+"
          "count=1,name=gpu,type=a,file=/dev/null+"
          "count=1,name=nic,type=x,file=/dev/null");
    CHECK(gres_conf({}) == "");
}

TEST_CASE("the word in extra is ours, what stands beside it is others'")
{
    CHECK(device_word("k8sdev:1|x") == "k8sdev:1|x");
    CHECK(device_word("rack=7  k8sdev:1|x {\"a\":1}") == "k8sdev:1|x");
    CHECK(device_word("rack=7 xk8sdev:1") == "");
    CHECK(with_device_word("", "k8sdev:1|x") == "k8sdev:1|x");
    CHECK(with_device_word("rack=7 k8sdev:1|old and more", "k8sdev:1|x") ==
          "rack=7 and more k8sdev:1|x");
    CHECK(with_device_word("rack=7 k8sdev:1|old", "") == "rack=7");
    CHECK(with_device_word("k8sdev:1|a k8sdev:1|b", "") == "");
}
