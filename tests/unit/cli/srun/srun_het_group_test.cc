// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/het_group.h"

#include <doctest/doctest.h>
#include <vector>

using namespace bridge;

namespace {

// As slurmd and slurmctld have it for a job of 2 and 3 nodes.
Environment environment()
{
    return {"SLURM_JOB_ID=10",
            "SLURM_HET_SIZE=2",
            "SLURM_NTASKS=2",
            "SLURM_JOB_NUM_NODES=2",
            "SLURM_JOB_NODELIST=kn[1-2]",
            "SLURM_JOB_NUM_NODES_HET_GROUP_0=2",
            "SLURM_JOB_NUM_NODES_HET_GROUP_1=3",
            "SLURM_JOB_NODELIST_HET_GROUP_1=kn[3-5]",
            "SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1=4(x3)"};
}

} // namespace

TEST_CASE("srun --het-group finds a component's nodes as those of a job")
{
    auto group = het_group(environment(), 1);

    REQUIRE(group.has_value());
    CHECK(group->first == 2);
    CHECK(number_of(group->environment, "SLURM_JOB_NUM_NODES") == 3);
    CHECK(text_of(group->environment, "SLURM_JOB_NODELIST") == "kn[3-5]");
    CHECK(text_of(group->environment, "SLURM_JOB_CPUS_PER_NODE") == "4(x3)");
    CHECK(find_variable(group->environment, "SLURM_NTASKS") == nullptr);
    CHECK(text_of(group->environment, "SLURM_JOB_ID") == "10");

    auto own = het_group(environment(), 0);
    REQUIRE(own.has_value());
    CHECK(own->first == 0);
    CHECK(own->environment == environment());
}

TEST_CASE("srun --het-group of what is no component is refused")
{
    CHECK(het_group(environment(), 2).error().code == Code::rejected);
    CHECK(het_group({"SLURM_JOB_NUM_NODES=2"}, 1).error().code ==
          Code::rejected);
    Environment without = environment();
    without.erase(without.begin() + 5, without.end());
    CHECK(het_group(without, 1).error().code == Code::rejected);

    Environment known = environment();
    std::vector<const char *> words{"--het-group=0,1", "true"};
    CHECK(
        parse_in_group(words, known).error().message.contains("one component"));
    words = {"--het-group=1", "-n3", "true"};
    auto options = parse_in_group(words, known);
    REQUIRE(options.has_value());
    CHECK(options->first_rank == 2);
    CHECK(options->request.min_nodes == StepNumber{3, true});
    CHECK(options->request.tasks == StepNumber{3, false});
}
