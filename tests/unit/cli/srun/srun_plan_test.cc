// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/step_plan.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

using Numbers = std::vector<std::uint32_t>;
using Layout = std::vector<Numbers>;

JobNodes three_nodes(std::uint32_t cpus = 4)
{
    return {{"n1", "n2", "n3"}, {cpus, cpus, cpus}};
}

// As sbatch's variables say it.
StepRequest of_job(std::uint32_t nodes, std::uint32_t tasks = 0)
{
    StepRequest request;
    request.min_nodes = StepNumber{nodes, true};
    request.max_nodes = nodes;
    if (tasks > 0)
        request.tasks = StepNumber{tasks, true};
    return request;
}

Layout layout_of(const Result<StepPlan> &plan)
{
    Layout layout;
    REQUIRE(plan.has_value());
    for (const StepNode &node : plan->nodes)
        layout.push_back(node.tasks);
    return layout;
}

Numbers ranks_of(const Result<StepPlan> &plan)
{
    Numbers ranks;
    REQUIRE(plan.has_value());
    for (const StepNode &node : plan->nodes)
        ranks.push_back(node.rank);
    return ranks;
}

std::string refusal_reason(const Result<StepPlan> &plan)
{
    REQUIRE_FALSE(plan.has_value());
    CHECK(plan.error().code == Code::rejected);
    return plan.error().message;
}

} // namespace

TEST_CASE("tasks are laid out in blocks, in turn, and in planes")
{
    Numbers slots = {4, 2, 4};

    CHECK(lay_out_tasks(6, slots, TaskOrder::block, 0) ==
          Layout{{0, 1}, {2, 3}, {4, 5}});
    CHECK(lay_out_tasks(10, slots, TaskOrder::block, 0) ==
          Layout{{0, 1, 2, 3}, {4, 5}, {6, 7, 8, 9}});
    CHECK(lay_out_tasks(10, slots, TaskOrder::cyclic, 0) ==
          Layout{{0, 3, 6, 8}, {1, 4}, {2, 5, 7, 9}});
    // Slurm's own example: 2 in a plane on nodes of 4, 1 and 1 CPUs.
    CHECK(lay_out_tasks(6, {4, 1, 1}, TaskOrder::plane, 2) ==
          Layout{{0, 1, 4, 5}, {2}, {3}});
    CHECK(lay_out_tasks(6, {4, 4, 4}, TaskOrder::plane, 2) ==
          Layout{{0, 1}, {2, 3}, {4, 5}});
}

TEST_CASE("more tasks than slots go on in the same way")
{
    CHECK(lay_out_tasks(5, {1, 1}, TaskOrder::block, 0) ==
          Layout{{0, 1, 2}, {3, 4}});
    CHECK(lay_out_tasks(5, {1, 1}, TaskOrder::cyclic, 0) ==
          Layout{{0, 2, 4}, {1, 3}});
    CHECK(lay_out_tasks(5, {1, 1}, TaskOrder::plane, 2).size() == 2);
}

TEST_CASE("without options a step has the job's nodes and tasks")
{
    CHECK(layout_of(plan_step(of_job(3, 6), three_nodes())) ==
          Layout{{0, 1}, {2, 3}, {4, 5}});
    CHECK(layout_of(plan_step(of_job(3), three_nodes())) ==
          Layout{{0}, {1}, {2}}); // one on each
    CHECK(layout_of(plan_step({}, three_nodes())) == Layout{{0}, {1}, {2}});
}

TEST_CASE("fewer tasks than nodes: fewer nodes, and srun says so")
{
    StepRequest request = of_job(3, 6);
    request.tasks = StepNumber{2};

    auto plan = plan_step(request, three_nodes());

    CHECK(layout_of(plan) == Layout{{0}, {1}});
    REQUIRE(plan->warnings.size() == 1);
    CHECK(plan->warnings[0] ==
          "can't run 2 processes on 3 nodes, setting nnodes to 2");
}

TEST_CASE("tasks for each node")
{
    StepRequest request = of_job(3);
    request.tasks_per_node = 2;
    CHECK(layout_of(plan_step(request, three_nodes())) ==
          Layout{{0, 1}, {2, 3}, {4, 5}});

    // The command line's nodes count more than sbatch's tasks.
    request = of_job(3, 6);
    request.min_nodes = StepNumber{1};
    request.max_nodes = 1;
    request.tasks_per_node = 3;
    CHECK(layout_of(plan_step(request, three_nodes())) == Layout{{0, 1, 2}});

    request = of_job(3, 9);
    request.tasks_per_node = 2;
    auto plan = plan_step(request, three_nodes());
    CHECK(layout_of(plan).at(0).size() == 3);
    REQUIRE(plan->warnings.size() == 1);
    CHECK(plan->warnings[0].starts_with("can't honor --ntasks-per-node"));
}

TEST_CASE("CPUs limit what a step may have, unless told otherwise")
{
    StepRequest request = of_job(3, 13);
    CHECK(refusal_reason(plan_step(request, three_nodes()))
              .ends_with("More processors requested than permitted"));
    request.overcommit = true;
    CHECK(plan_step(request, three_nodes()).has_value());

    request = of_job(3, 6);
    request.cpus_per_task = 3; // one fits on a node
    CHECK(refusal_reason(plan_step(request, three_nodes()))
              .contains("permitted"));
    request.cpus_per_task = 2;
    CHECK(layout_of(plan_step(request, three_nodes())).size() == 3);
    request.cpus_per_task = 5;
    CHECK(refusal_reason(plan_step(request, three_nodes()))
              .contains("permitted"));

    // Nobody knows the CPUs: no limit.
    CHECK(plan_step(of_job(3, 99), {{"n1", "n2", "n3"}, {}}).has_value());
}

TEST_CASE("chosen nodes come with as many more as the job's number says")
{
    StepRequest request;
    request.nodes = "n2";
    CHECK(ranks_of(plan_step(request, three_nodes())) == Numbers{1});

    request = of_job(3, 3);
    request.nodes = "n2";
    CHECK(ranks_of(plan_step(request, three_nodes())) == Numbers{0, 1, 2});

    request.min_nodes = StepNumber{2};
    request.max_nodes = 2;
    request.nodes = "n3";
    CHECK(ranks_of(plan_step(request, three_nodes())) == Numbers{0, 2});

    request.min_nodes = StepNumber{1};
    request.max_nodes = 1;
    request.nodes = "n[2-3]";
    auto plan = plan_step(request, three_nodes());
    CHECK(ranks_of(plan) == Numbers{1});
    REQUIRE(plan->warnings.size() == 1);
    CHECK(plan->warnings[0].contains("Eliminating nodes"));

    request.nodes = "n9";
    CHECK(refusal_reason(plan_step(request, three_nodes())).contains("n9"));
}

TEST_CASE("excluded nodes, and nodes from one on")
{
    StepRequest request = of_job(3);
    request.without = "n[1,3]";
    CHECK(ranks_of(plan_step(request, three_nodes())) == Numbers{1});
    request.nodes = "n1";
    CHECK(
        refusal_reason(plan_step(request, three_nodes())).contains("excluded"));
    request.nodes = "";
    request.without = "n[1-3]";
    CHECK_FALSE(plan_step(request, three_nodes()).has_value());

    request = {};
    request.min_nodes = StepNumber{2};
    request.max_nodes = 2;
    request.first = 1;
    CHECK(ranks_of(plan_step(request, three_nodes())) == Numbers{1, 2});
    request.first = 2;
    CHECK(refusal_reason(plan_step(request, three_nodes())).contains("2+2>3"));
    request.nodes = "n1";
    CHECK(refusal_reason(plan_step(request, three_nodes()))
              .contains("--relative"));
}

TEST_CASE("a range of nodes: as many as the tasks need")
{
    StepRequest request;
    request.min_nodes = StepNumber{1};
    request.max_nodes = 3;
    request.tasks = StepNumber{6};

    CHECK(layout_of(plan_step(request, three_nodes())) ==
          Layout{{0, 1, 2}, {3, 4, 5}});

    request.tasks = StepNumber{13};
    CHECK_FALSE(plan_step(request, three_nodes()).has_value());
}

TEST_CASE("more nodes than there are, or none, are refused")
{
    StepRequest request;
    request.min_nodes = StepNumber{4};
    request.max_nodes = 4;
    CHECK(refusal_reason(plan_step(request, three_nodes())) ==
          "Only allocated 3 nodes asked for 4");
    request.min_nodes = StepNumber{0};
    CHECK_FALSE(plan_step(request, three_nodes()).has_value());
    request = {};
    request.nodes = "n[";
    CHECK(refusal_reason(plan_step(request, three_nodes())) ==
          "Invalid node list `n[' specified");
}
