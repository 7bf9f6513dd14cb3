// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/protect.h"
#include "tests/unit/operator/make.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

// The step, and the budget as it is after it.
struct Protected {
    Known known;
    std::vector<Step> steps;

    explicit Protected(Known before) : known(std::move(before))
    {
        const Controller &controller = known.controllers.begin()->second;
        steps = protect_workers(known, controller);
        if (steps.empty())
            return;
        Budget budget = budget_from(json(steps[0].body));
        known.budgets[budget.meta.key] = budget;
        CHECK(protect_workers(known, controller).empty());
    }
};

} // namespace

TEST_CASE("one PodDisruptionBudget protects all workers with jobs")
{
    Protected made(known_with(node_set(1), {}));
    REQUIRE(made.steps.size() == 1);
    CHECK(made.steps[0].path.starts_with("/apis/policy/v1/namespaces/ns/"
                                         "poddisruptionbudgets/"
                                         "slurm-workers-pdb-slurm?"));
    Json body = json(made.steps[0].body);
    CHECK(body.at("spec").dump() ==
          R"({"maxUnavailable":0,"selector":{"matchLabels":{)"
          R"("nodeset.slinky.slurm.net/pod-protect":"true",)"
          R"("slinky.slurm.net/cluster":"slurm"}}})");
    CHECK(body.text("metadata/ownerReferences/0/kind") == "Controller");
}

TEST_CASE("it leaves out the NodeSets that ask for no protection")
{
    Known known = known_with(node_set(1), {});
    NodeSet other =
        node_set(1, R"(, "workloadDisruptionProtection": false)", "free");
    known.node_sets[other.meta.key] = other;
    Protected made(known);
    REQUIRE(made.steps.size() == 1);
    CHECK(
        json(made.steps[0].body).at("spec/selector/matchExpressions").dump() ==
        R"([{"key":"app.kubernetes.io/instance",)"
        R"("operator":"NotIn","values":["free"]}])");
    made.known.node_sets.erase(other.meta.key);
    CHECK(Protected(made.known).steps.size() == 1);
}

TEST_CASE("a budget that somebody has changed is put right")
{
    Protected made(known_with(node_set(1), {}));
    auto changed = [&](auto change) {
        Known known = made.known;
        change(known.budgets.begin()->second);
        return Protected(known).steps.size();
    };
    CHECK(changed([](Budget &) {}) == 0);
    CHECK(changed([](Budget &one) { one.most_unavailable = 1; }) == 1);
    CHECK(changed([](Budget &one) { one.most_unavailable.reset(); }) == 1);
    CHECK(changed([](Budget &one) { one.labels["a"] = "b"; }) == 1);
    CHECK(changed([](Budget &one) { one.excepted = {"w"}; }) == 1);
    CHECK(changed([](Budget &one) { one.owners.clear(); }) == 1);
}

TEST_CASE("without a NodeSet no budget is made")
{
    Known known = known_with(node_set(1), {});
    known.node_sets.clear();
    CHECK(Protected(known).steps.empty());
}
