// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/node_features/feature_report.h"

#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

using namespace bridge;

namespace {

using Words = std::vector<std::string>;

// A machine with a kubelet, and what the Node is labelled with.
struct Machine {
    TemporaryDirectory dir;
    Conf conf;

    Machine()
    {
        conf.kubelet_dir = dir.path + "/kubelet";
        conf.labels_file = dir.path + "/labels.json";
        conf.feature_labels = {{"topology.kubernetes.io/zone", "zone"}};
        std::filesystem::create_directories(conf.kubelet_dir + "/pods");
    }
    void labels(const std::string &text) const
    {
        std::ofstream(conf.labels_file, std::ios::trunc) << text;
    }
};

} // namespace

TEST_CASE("a machine with a kubelet reports it, and the chosen labels")
{
    Machine machine;
    CHECK(reported_features(machine.conf) == Words{"k8s.kubelet"});

    machine.labels(R"({"topology.kubernetes.io/zone":"a","tier":"x"})");
    CHECK(reported_features(machine.conf) ==
          Words{"k8s.kubelet", "k8s.zone.a"});

    std::filesystem::remove_all(machine.conf.kubelet_dir);
    CHECK(reported_features(machine.conf).empty());
}

TEST_CASE("a file that is not what it should be gives no label")
{
    Machine machine;
    for (const std::string &text :
         {std::string(), std::string("{"), std::string("[]"),
          std::string("null"),
          std::string(R"({"topology.kubernetes.io/zone":1})"),
          std::string(R"({"topology.kubernetes.io/zone":"a,k8s"})"),
          std::string("\0\xff", 2), std::string(2 << 20, '{')}) {
        CAPTURE(text.size());
        machine.labels(text);

        CHECK(reported_features(machine.conf) == Words{"k8s.kubelet"});
    }
}

TEST_CASE("a kubelet that gives CPUs to containers is reported")
{
    Machine machine;
    auto state = [&](const std::string &text) {
        std::ofstream(machine.conf.kubelet_dir + "/cpu_manager_state",
                      std::ios::trunc)
            << text;
        return reported_features(machine.conf);
    };
    // As kubelets write it.
    CHECK(state(R"({"policyName":"static","defaultCpuSet":"0,3-7","entries":)"
                R"({"uid":{"main":"1-2"}},"checksum":1552716370})") ==
          Words{"k8s.kubelet", "k8s.static-cpus"});
    CHECK(state(R"({"policyName":"none","defaultCpuSet":"","checksum":1})") ==
          Words{"k8s.kubelet"});
    for (const char *text : {"", "{", "[]", R"({"policyName":1})"})
        CHECK(state(text) == Words{"k8s.kubelet"});
}

TEST_CASE("what another plugin reports stays, and nothing is said twice")
{
    CHECK(with_words("", {}) == "");
    CHECK(with_words("a", {"b", "a"}) == "a,b");
    CHECK(with_words("", {"b"}) == "b");
}

TEST_CASE("slurmctld joins what it has with what it is told")
{
    struct {
        const char *what, *fresh, *before, *allowed, *merged;
    } const table[] = {
        {"slurmd registers with a slurmctld that began anew", "k8s.kubelet",
         "big", "big", "big,k8s.kubelet"},
        {"the same again", "k8s.kubelet", "big,k8s.kubelet", "big,k8s.kubelet",
         "big,k8s.kubelet"},
        {"a label has changed while slurmd was away", "k8s.kubelet,k8s.zone.b",
         "big,k8s.kubelet,k8s.zone.a", "big,k8s.kubelet,k8s.zone.a",
         "big,k8s.kubelet,k8s.zone.b"},
        {"the agent has said more lately", "k8s.kubelet,k8s.zone.a",
         "k8s,k8s-node-n1,k8s.zone.b", "k8s,k8s-node-n1,k8s.zone.b",
         "k8s,k8s-node-n1,k8s.zone.b,k8s.kubelet"},
        {"and slurmd knows more of its kubelet", "k8s.kubelet,k8s.static-cpus",
         "k8s,k8s.zone.b", "k8s,k8s.zone.b",
         "k8s,k8s.zone.b,k8s.kubelet,k8s.static-cpus"},
        {"which it is not any more", "k8s.kubelet",
         "k8s,k8s.kubelet,k8s.static-cpus", "k8s,k8s.kubelet,k8s.static-cpus",
         "k8s,k8s.kubelet"},
        {"the agent leaves it", "k8s,k8s.kubelet,k8s.static-cpus",
         "k8s,k8s.kubelet,k8s.static-cpus", "k8s,k8s.kubelet,k8s.static-cpus",
         "k8s,k8s.kubelet,k8s.static-cpus"},
        {"the agent sets them all", "big,k8s,k8s.zone.b",
         "big,k8s,k8s-node-n1,k8s.zone.a", "big,k8s,k8s.zone.b",
         "big,k8s,k8s.zone.b"},
        {"the agent lets go of the node", "big,k8s.zone.a",
         "big,k8s,k8s.zone.a", "big,k8s.zone.a", "big,k8s.zone.a"},
        {"another plugin reports its own", "mode1,k8s.kubelet", "mode1,mode2",
         "mode1,mode2", "mode1,mode2,k8s.kubelet"},
        {"an administrator takes one away", "", "a,b", "b", "b"},
        {"an administrator adds one", "a,b", "a", "a,b", "a,b"},
        {"nothing", "", "", "", ""},
    };
    for (const auto &row : table) {
        CAPTURE(row.what);
        CHECK(merged_features(row.fresh, row.before, row.allowed) ==
              row.merged);
    }
}
