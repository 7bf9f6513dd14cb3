// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/srun_options.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

Result<SrunOptions> parse(std::vector<const char *> words,
                          Environment environment = {})
{
    return parse_srun(words, environment);
}

std::string refusal_reason(std::vector<const char *> words,
                           Environment environment = {})
{
    auto options = parse(std::move(words), std::move(environment));
    REQUIRE_FALSE(options.has_value());
    CHECK(options.error().code == Code::rejected);
    return options.error().message;
}

} // namespace

TEST_CASE("srun's options end where the command begins")
{
    auto options = parse({"-n4", "-N", "2-3", "--ntasks-per-node=2", "-lu",
                          "-K", "-o", "out-%t", "prog", "-n", "5"});

    REQUIRE(options.has_value());
    CHECK(options->request.tasks == StepNumber{4, false});
    CHECK(options->request.min_nodes == StepNumber{2, false});
    CHECK(options->request.max_nodes == 3);
    CHECK(options->request.tasks_per_node == 2);
    CHECK(options->label);
    CHECK(options->unbuffered);
    CHECK(options->kill_on_bad_exit);
    CHECK(options->output == "out-%t");
    CHECK(options->error == "out-%t"); // with stdout where not said
    CHECK(options->command == std::vector<std::string>{"prog", "-n", "5"});
}

TEST_CASE("long options may be shortened, and -- ends them")
{
    auto options =
        parse({"--ntasks", "3", "--unbuf", "--kill-on-bad-exit=0", "--", "-x"});

    REQUIRE(options.has_value());
    CHECK(options->request.tasks == StepNumber{3, false});
    CHECK(options->unbuffered);
    CHECK_FALSE(options->kill_on_bad_exit);
    CHECK(options->command == std::vector<std::string>{"-x"});
    CHECK(refusal_reason({"--n", "3", "true"}).contains("ambiguous"));
}

TEST_CASE("sbatch's variables are options, and the command line counts more")
{
    Environment environment = {"SLURM_NTASKS=8",
                               "SLURM_JOB_NUM_NODES=4",
                               "SLURM_NPROCS=7",
                               "SLURM_DISTRIBUTION=cyclic",
                               "SLURM_EXPORT_ENV=NONE",
                               "SRUN_EXPORT_ENV=ALL",
                               "SLURM_CPUS_PER_TASK=2",
                               "SLURM_LABELIO=1",
                               "SLURM_WAIT="};

    auto options = parse({"-N2", "true"}, environment);

    REQUIRE(options.has_value());
    CHECK(options->request.tasks == StepNumber{8, true});
    CHECK(options->request.min_nodes == StepNumber{2, false});
    CHECK(options->request.order == TaskOrder::cyclic);
    CHECK(options->request.cpus_per_task == 2);
    CHECK(options->exported == "ALL");
    CHECK(options->label);
}

TEST_CASE("ways to distribute tasks")
{
    CHECK(parse({"-m", "plane=3", "a"})->request.plane == 3);
    CHECK(parse({"-m", "Block", "a"})->request.order == TaskOrder::block);
    CHECK(refusal_reason({"-m", "block:cyclic", "a"}).contains("distribution"));
    CHECK(refusal_reason({"-m", "arbitrary", "a"}).contains("distribution"));
    CHECK(refusal_reason({"-m", "plane", "a"}).contains("distribution"));
    // sbatch's own has more in it, about CPUs.
    CHECK(parse({"a"}, {"SLURM_DISTRIBUTION=block:cyclic"}).has_value());
    CHECK(parse({"a"}, {"SLURM_DISTRIBUTION=Cyclic:Block,NoPack"}).has_value());
}

TEST_CASE("what cannot be had in Pods is refused in words")
{
    CHECK(refusal_reason({"--mpi=pmix", "a"}) ==
          "--mpi=pmix: there is no PMI in Pods, only --mpi=none");
    CHECK(refusal_reason({"a"}, {"SLURM_MPI_TYPE=pmi2"})
              .starts_with("SLURM_MPI_TYPE: --mpi=pmi2"));
    CHECK(parse({"--mpi=none", "a"}).has_value());
    CHECK(refusal_reason({"--pty", "bash"}).contains("slurmk8s attach"));
    CHECK(refusal_reason({"--multi-prog", "f"}).contains("--multi-prog"));
    CHECK(
        refusal_reason({"--gres=gpu:1", "a"}).contains("resources of its Pod"));
    CHECK(refusal_reason({"-t", "5", "a"}).contains("timeout"));
    CHECK(refusal_reason({"--cpu-bind=cores", "a"}).contains("not bound"));
    CHECK(parse({"--cpu-bind=verbose,none", "a"}).has_value());
    CHECK(refusal_reason({"a", ":", "b"}).contains("several commands"));
    CHECK(refusal_reason({"--jobid=7", "a"}, {"SLURM_JOB_ID=8"})
              .contains("own job"));
    CHECK(parse({"--jobid=8", "a"}, {"SLURM_JOB_ID=8"}).has_value());
    CHECK(
        parse({"--exact", "--overlap", "--exclusive", "-I", "a"}).has_value());
}

TEST_CASE("values that are none are refused")
{
    for (std::vector<const char *> words :
         std::vector<std::vector<const char *>>{{"-n", "0", "a"},
                                                {"-n", "x", "a"},
                                                {"-n"},
                                                {"-N", "3-2", "a"},
                                                {"-N0", "a"},
                                                {"-c", "0", "a"},
                                                {"--open-mode=x", "a"},
                                                {"-r-1", "a"},
                                                {"--ntasks-per-node=0", "a"},
                                                {"-W", "x", "a"},
                                                {"-D", "", "a"},
                                                {"--label=1", "a"},
                                                {"--no-such"},
                                                {"-?"},
                                                {},
                                                {"-v", "-Q", "a"},
                                                {"-n4294967296", "a"}})
        CHECK_FALSE(refusal_reason(words).empty());
    CHECK(
        refusal_reason({"a"}, {"SLURM_NTASKS=x"}).starts_with("SLURM_NTASKS"));
}

TEST_CASE("help needs no command")
{
    CHECK(parse({"--help"})->help);
    CHECK(parse({"-V"})->version);
    CHECK(std::string(srun_help).contains("--ntasks-per-node"));
}
