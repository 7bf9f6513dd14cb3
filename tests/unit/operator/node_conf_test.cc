// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/node_conf.h"
#include "tests/unit/operator/make.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

NodeSet with(const std::string &extra, const std::string &resources,
             const std::string &pod_resources = "{}")
{
    NodeSet set;
    set.meta.key = {"ns", "w"};
    set.extra_conf = extra;
    set.spec = json(R"({"slurmd": {"resources": )" + resources +
                    R"(}, "template": {"spec": {"resources": )" +
                    pod_resources + "}}}");
    return set;
}

} // namespace

TEST_CASE("sizes are what the Pod requests, in whole CPUs and MiB")
{
    struct {
        const char *resources;
        const char *pod;
        const char *words;
        bool sized;
    } const table[] = {
        {R"({"requests":{"cpu":"2","memory":"1000Mi"}})", "{}",
         "CPUs=2 RealMemory=1000 Port=6818 Feature=w", true},
        {R"({"requests":{"cpu":"3900m","memory":"1G"}})", "{}",
         "CPUs=3 RealMemory=953 Port=6818 Feature=w", true},
        {R"({"requests":{"cpu":"100m","memory":"1"}})", "{}",
         "CPUs=1 RealMemory=1 Port=6818 Feature=w", true},
        {R"({"requests":{"cpu":4,"memory":1048576}})", "{}",
         "CPUs=4 RealMemory=1 Port=6818 Feature=w", true},
        {R"({"limits":{"cpu":"2","memory":"5Mi"}})", "{}",
         "CPUs=2 RealMemory=5 Port=6818 Feature=w", true},
        {R"({"requests":{"cpu":"1"},"limits":{"cpu":"2","memory":"5Mi"}})",
         "{}", "CPUs=1 RealMemory=5 Port=6818 Feature=w", true},
        {"{}", R"({"requests":{"cpu":"2","memory":"5Mi"}})",
         "CPUs=2 RealMemory=5 Port=6818 Feature=w", true},
        {R"({"requests":{"cpu":"2"}})", "{}", "CPUs=2 Port=6818 Feature=w",
         false},
        {"{}", "{}", "Port=6818 Feature=w", false},
        {R"({"requests":{"cpu":"-2","memory":"x"}})", "{}",
         "Port=6818 Feature=w", false},
    };
    for (const auto &row : table) {
        NodeConf conf = node_conf(with("", row.resources, row.pod));
        CHECK(conf.words == row.words);
        CHECK(conf.sized == row.sized);
        CHECK(conf.problem.empty());
    }
}

TEST_CASE("extraConf is added, and wins over the sizes")
{
    CHECK(node_conf(with(" Weight=5\n Gres=gpu:2 ", "{}")).words ==
          "Port=6818 Feature=w Weight=5 Gres=gpu:2");
    CHECK(node_conf(with("Features=a,b feature=c", "{}")).words ==
          "Port=6818 Feature=w,a,b,c");
    NodeConf conf = node_conf(with(
        "cpus=8 RealMemory=100", R"({"requests":{"cpu":"2","memory":"5Mi"}})"));
    CHECK(conf.words == "Port=6818 Feature=w cpus=8 RealMemory=100");
    CHECK(conf.sized);
}

TEST_CASE("extraConf that is hostile is refused")
{
    for (const char *extra :
         {"NodeName=other", "nodename=other", "NodeAddr=10.0.0.1", "Port=6819",
          "port=0", "-N other", "Weight", "=5", "Weight=", "Weight=\x1b[2J",
          "Weight=\xc3\xa4"})
        CHECK_MESSAGE(!node_conf(with(extra, "{}")).problem.empty(), extra);
    CHECK(node_conf(with("NodeName=other", "{}")).problem.contains("NodeName"));
}
