// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/metrics.h"

#include <doctest/doctest.h>
#include <string>
#include <utility>

using namespace bridge;
using bridge::slinky::Metrics;

TEST_CASE(
    "the operator's page has what each NodeSet's status says, and no more "
    "of one that is gone")
{
    Metrics metrics;
    auto page = [&] {
        return std::move(metrics.text(MetricFormat::prometheus)).finish();
    };
    metrics.set_node_sets(
        {{"slurm", "a", {{"desired", 3}, {"ready", 2}}, {{"idle", 1}}},
         {"other", "a", {{"desired", 1}}, {}}});
    for (const char *line :
         {"slurmk8s_operator_nodeset_pods{namespace=\"slurm\",nodeset=\"a\","
          "state=\"desired\"} 3",
          "slurmk8s_operator_nodeset_pods{namespace=\"slurm\",nodeset=\"a\","
          "state=\"ready\"} 2",
          "slurmk8s_operator_nodeset_pods{namespace=\"other\",nodeset=\"a\","
          "state=\"desired\"} 1",
          "slurmk8s_operator_nodeset_slurm_nodes{namespace=\"slurm\","
          "nodeset=\"a\",state=\"idle\"} 1"}) {
        CAPTURE(line);
        CHECK(page().contains("\n" + std::string(line) + "\n"));
    }
    metrics.set_node_sets({});
    CHECK_FALSE(page().contains("nodeset_pods{"));
}
