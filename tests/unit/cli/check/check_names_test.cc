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

TEST_CASE("who has no association is named with the command that gives one")
{
    SlurmFacts slurm;
    slurm.slurm_user = "slurm";
    Conf conf;
    conf.default_user = "nobody";
    std::vector<Namespace> namespaces = {
        {"good", {}, {{names::namespace_user, "alice"}}},
        {"number", {}, {{names::namespace_user, "1000"}}},
        {"plain", {}, {}},
        {"bad", {}, {{names::namespace_user, "bob"}}}};
    CHECK(check_associations(slurm, conf, namespaces).empty()); // not asked for
    slurm.associated_users = {"alice", "nobody", "slurm"};

    Findings found = check_associations(slurm, conf, namespaces);

    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == Severity::error);
    CHECK(found[0].about == "namespace bad");
    CHECK(found[0].change == "sacctmgr add user bob account=ACCOUNT");
    slurm.associated_users = {"alice", "bob"};
    found = check_associations(slurm, conf, namespaces);
    REQUIRE(found.size() == 2);
    CHECK(found[0].about == "slurmdbd");
    CHECK(found[0].severity == Severity::warning);
    CHECK(found[0].change == "sacctmgr add user slurm account=ACCOUNT");
    CHECK(found[1].about == "k8s.conf");
}
