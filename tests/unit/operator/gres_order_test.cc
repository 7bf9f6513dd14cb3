// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/decide.h"
#include "operator/decide/gres_order.h"
#include "tests/unit/operator/make_cluster.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;
using namespace bridge::slinky;

namespace {

NodeSet gpus()
{
    return node_set(2, R"(, "extraConf": "Gres=gpu:2")");
}

// What slurmk8sd says of slurmctld.
void applied(Known &known)
{
    Daemon pod;
    pod.meta.key = {"ns", "slurm-controller-0"};
    pod.configured = known.made.at({"ConfigMap", {"ns", "slurm-config"}})
                         .meta.annotations.at("slurmk8s/config-hash");
    known.daemons[pod.meta.key] = pod;
}

std::string waits(const Known &known)
{
    return gres_waits(known, known.controllers.begin()->second, gpus());
}

} // namespace

TEST_CASE(
    "Pods with GRES wait for slurmctld's configuration, and others do not")
{
    Known known = with(inside(R"(, "extraConf": "GresTypes=gpu")", held));
    NodeSet set = gpus();
    add(known, set);
    CHECK(waits(known).contains("ConfigApplied of Controller slurm"));
    auto steps = decide_node_set(known, set, {}, now);
    CHECK_FALSE(whats(steps).contains("create Pod"));
    CHECK(said(steps, "Updated").starts_with("False: Its nodes have GRES"));
    CHECK(whats(decide_node_set(known, node_set(1), {}, now))
              .contains("create Pod"));

    settle(known);
    CHECK(waits(known) != ""); // it is in the ConfigMap
    applied(known);
    CHECK(waits(known) == "");
    CHECK(whats(decide_node_set(known, set, {}, now)).contains("create Pod"));

    auto &controller = known.controllers.begin()->second;
    Controller other = inside(R"(, "extraConf": "GresTypes=gpu,nic")", held);
    controller = other;
    CHECK(waits(known) != "");
    controller.conditions = {{"ConfigValid", "False", "Refused", "", "", 1}};
    CHECK(waits(known) == "");
}

TEST_CASE("Pods with GRES wait for no external slurmctld, nor for slurmk8sd "
          "where there is none")
{
    Known known = with(external_controller());
    CHECK(waits(known) == "");

    known = with(inside("", held));
    known.agent_image = "";
    add(known, gpus());
    settle(known);
    CHECK(waits(known) == "");
}
