// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_names.h"

#include "common/contract/names.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a QoS that slurmdbd does not have is named with who wants it")
{
    SlurmFacts slurm;
    slurm.qos = {"normal", "expedite"};
    Conf conf;
    conf.priority_classes = {
        {"high", {"Expedite", 0}}, {"low", {"", 100}}, {"odd", {"nowhere", 0}}};
    std::vector<Namespace> namespaces = {
        {"good", {}, {{names::namespace_qos, "normal"}}},
        {"plain", {}, {}},
        {"bad", {}, {{names::namespace_qos, "gone"}}}};

    Findings found = check_qos(slurm, conf, namespaces);

    REQUIRE(found.size() == 2);
    CHECK(found[0].about == "k8s.conf, PriorityClass=odd");
    CHECK(found[0].severity == Severity::error);
    CHECK(found[0].change == "sacctmgr add qos nowhere");
    CHECK(found[1].about == "namespace bad");
    slurm.qos.reset(); // nobody has said
    CHECK(check_qos(slurm, conf, namespaces).empty());
}
