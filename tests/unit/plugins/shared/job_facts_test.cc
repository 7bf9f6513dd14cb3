// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/shared/job_facts.h"

#include <cstdint>
#include <doctest/doctest.h>
#include <string>

using namespace bridge;

TEST_CASE("a job's facts are read from the environment of its scripts")
{
    std::string sluid = "SLURM_JOB_SLUID=" + Sluid{12345}.str();
    const char *environment[] = {
        "SPANK_K8S_GANG=default/web", "SLURM_JOBID=9", "SLURM_JOB_ID=4711",
        "SLURM_JOB_NODELIST=n[1-3]",  sluid.c_str(),   nullptr};

    JobFacts facts = facts_from(environment);

    CHECK(facts.job == JobRef{4711, Sluid{12345}});
    CHECK(facts.hostlist == "n[1-3]");
    CHECK(facts.ours);
}

TEST_CASE("the CPUs of a job are read where it has one node")
{
    const struct {
        const char *entry;
        std::uint32_t cpus;
    } rows[] = {
        {"SLURM_JOB_CPUS_PER_NODE=16", 16},
        {"SLURM_JOB_CPUS_PER_NODE=4(x2)", 0},
        {"SLURM_JOB_CPUS_PER_NODE=4,2", 0},
        {"SLURM_JOB_CPUS_PER_NODE=", 0},
        {"SLURM_JOB_CPUS_PER_NODE=x", 0},
        {"SLURM_JOB_CPUS_PER_NODE=-1", 0},
        {"SLURM_JOB_CPUS_PER_NODE=99999999999", 0},
    };
    for (const auto &row : rows) {
        CAPTURE(row.entry);
        const char *environment[] = {row.entry, nullptr};

        CHECK(facts_from(environment).cpus == row.cpus);
    }
}

TEST_CASE("only our own mark makes a job ours")
{
    for (const char *entry :
         {"SPANK_K8S_GANGX=1", "K8S_GANG=1",
          "SLURM_JOB_COMMENT=SPANK_K8S_GANG=1", "SPANK_K8S_GANG"}) {
        CAPTURE(entry);
        const char *environment[] = {entry, nullptr};

        CHECK_FALSE(facts_from(environment).ours);
    }
}

TEST_CASE("the mark says which jobs are sbatch's")
{
    const char *batch[] = {"SPANK_K8S_GANG=sbatch:0123", nullptr};
    const char *other[] = {"SPANK_K8S_GANG=uid-sbatch:0123", nullptr};

    CHECK(facts_from(batch).ours);
    CHECK(facts_from(batch).batch);
    CHECK(facts_from(other).ours);
    CHECK_FALSE(facts_from(other).batch);
}

TEST_CASE("a job without nodes or SLUID has none")
{
    const char *environment[] = {"SLURM_JOB_ID=1", "SLURM_JOB_NODELIST=(null)",
                                 "SLURM_JOB_SLUID=rubbish", nullptr};

    JobFacts facts = facts_from(environment);

    CHECK(facts.hostlist.empty());
    CHECK(facts.job == JobRef{1, Sluid{}});
}
