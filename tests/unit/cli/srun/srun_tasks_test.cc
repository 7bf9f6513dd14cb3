// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/io_name.h"
#include "cli/srun/task_environment.h"
#include "cli/srun/task_states.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;

namespace {

using Kind = StepStream::Kind;

std::string value(const Environment &environment, std::string_view name)
{
    const char *found = find_variable(environment, name);
    return found ? found : "(none)";
}

Launch on_second_node()
{
    Launch launch;
    launch.node = 1;
    launch.node_name = "n2";
    launch.tasks = {2, 5};
    return launch;
}

} // namespace

TEST_CASE("where a step's streams go")
{
    CHECK(step_stream("", 4) == StepStream{});
    CHECK(step_stream("ALL", 4) == StepStream{});
    CHECK(step_stream("-", 4) == StepStream{});
    CHECK(step_stream("None", 4) == StepStream{Kind::none});
    CHECK(step_stream("3", 4) == StepStream{Kind::one, 3});
    CHECK(step_stream("4", 4) == StepStream{Kind::srun_file, 0, "4"});
    CHECK(step_stream("out", 4) == StepStream{Kind::srun_file, 0, "out"});
    CHECK(step_stream("out.%j", 4) == StepStream{Kind::srun_file, 0, "out.%j"});
    for (const char *pattern : {"o%t", "o%3t", "o%n", "o%N"})
        CHECK(step_stream(pattern, 4).kind == Kind::file);
    for (const char *pattern : {"o%%t", "o\\%t"})
        CHECK(step_stream(pattern, 4).kind == Kind::srun_file);
}

TEST_CASE("names of files have what srun's patterns stand for")
{
    StepFacts facts{12, 3, 10, 14, 2, "name", "alice"};
    TaskFacts task{7, 1, "n2.example"};
    struct Row {
        const char *pattern, *name;
    };
    for (const Row &row : std::vector<Row>{{"job%J.out", "job12.3.out"},
                                           {"%4j-%2s", "0012-03"},
                                           {"%A_%a.%b", "10_14.4"},
                                           {"%x-%u-%r", "name-alice-2"},
                                           {"%3t.%n.%N", "007.1.n2"},
                                           {"%%t", "%t"},
                                           {"%q%5%", "%q%5%"},
                                           {"a\\%t", "a%t"},
                                           {"%99t", "0000000007"},
                                           {"out%", "out"}}) {
        INFO(row.pattern);
        CHECK(expand_stream(row.pattern, facts, task) == row.name);
    }
    CHECK(expand_stream("%t", facts, std::nullopt) == "%t");
}

TEST_CASE("all tasks of a step have its variables")
{
    SrunOptions options;
    options.request.cpus_per_task = 2;
    options.job_name = "step";
    StepVariables step{3, 5, {"n1", "n2", "n3"}, {2, 2, 1}, "10.0.0.1"};

    Environment environment = step_environment(
        {"A=1", "SLURM_NTASKS=9", "SLURM_JOB_ID=12"}, options, step);

    CHECK(value(environment, "A") == "1");
    CHECK(value(environment, "SLURM_JOB_ID") == "12");
    CHECK(value(environment, "SLURM_STEP_ID") == "3");
    CHECK(value(environment, "SLURM_NTASKS") == "5");
    CHECK(value(environment, "SLURM_NPROCS") == "5");
    CHECK(value(environment, "SLURM_NNODES") == "3");
    CHECK(value(environment, "SLURM_STEP_NUM_TASKS") == "5");
    CHECK(value(environment, "SLURM_STEP_NODELIST") == "n[1-3]");
    CHECK(value(environment, "SLURM_STEP_TASKS_PER_NODE") == "2(x2),1");
    CHECK(value(environment, "SLURM_CPUS_PER_TASK") == "2");
    CHECK(value(environment, "SLURM_JOB_NAME") == "step");
    CHECK(value(environment, "SLURM_LAUNCH_NODE_IPADDR") == "10.0.0.1");

    options.preserve_env = true;
    environment = step_environment({"SLURM_NTASKS=9"}, options, step);
    CHECK(value(environment, "SLURM_NTASKS") == "9");
    CHECK(value(environment, "SLURM_STEP_NUM_TASKS") == "5");
}

TEST_CASE("--export chooses, and what it says itself counts most")
{
    Environment ours = {"A=1", "B=2", "SLURM_JOB_ID=12", "PATH=/bin"};
    auto with = [&](const char *list) {
        SrunOptions options;
        options.exported = list;
        return step_environment(ours, options, {0, 1, {"n1"}, {1}, ""});
    };

    CHECK(value(with("NONE"), "A") == "(none)");
    CHECK(value(with("NONE"), "PATH") == "(none)");
    CHECK(value(with("NONE"), "SLURM_JOB_ID") == "12");
    CHECK(value(with("A,C=3"), "A") == "1");
    CHECK(value(with("A,C=3"), "B") == "(none)");
    CHECK(value(with("A,C=3"), "C") == "3");
    CHECK(value(with("ALL,A=9"), "A") == "9");
    CHECK(value(with("all,A=9"), "B") == "2");
    CHECK(value(with("ALL,C='x,y'"), "C") == "x,y");
    CHECK(value(with("ALL,D=e=f"), "D") == "e=f");
}

TEST_CASE("each task knows itself")
{
    Environment environment = task_environment(on_second_node(), 1, 4711, {});

    CHECK(value(environment, "SLURM_PROCID") == "5");
    CHECK(value(environment, "SLURM_LOCALID") == "1");
    CHECK(value(environment, "SLURM_NODEID") == "1");
    CHECK(value(environment, "SLURM_GTIDS") == "2,5");
    CHECK(value(environment, "SLURM_TASK_PID") == "4711");
    CHECK(value(environment, "SLURMD_NODENAME") == "n2");
    CHECK(value(environment, "TMPDIR") == "/tmp");
}

TEST_CASE("elsewhere a container's own variables count more than srun's")
{
    Launch launch = on_second_node();
    launch.environment = {"HOSTNAME=pod-0", "CUDA_VISIBLE_DEVICES=0",
                          "ROCR_VISIBLE_DEVICES=1", "GPU_DEVICE_3=gpu-3",
                          "PATH=/mine"};
    Environment own = {"HOSTNAME=pod-1", "CUDA_VISIBLE_DEVICES=5",
                       "GPU_DEVICE_7=gpu-7", "PATH=/theirs", "OTHER=1"};

    Environment there = task_environment(launch, 0, 1, own);
    CHECK(value(there, "HOSTNAME") == "pod-1");
    CHECK(value(there, "CUDA_VISIBLE_DEVICES") == "5");
    CHECK(value(there, "ROCR_VISIBLE_DEVICES") == "1");
    CHECK(value(there, "GPU_DEVICE_3") == "(none)");
    CHECK(value(there, "GPU_DEVICE_7") == "gpu-7");
    CHECK(value(there, "PATH") == "/mine");
    CHECK(value(there, "OTHER") == "(none)");

    launch.local = true;
    Environment here = task_environment(launch, 0, 1, own);
    CHECK(value(here, "HOSTNAME") == "pod-0");
    CHECK(value(here, "GPU_DEVICE_3") == "gpu-3");
}

TEST_CASE("the highest exit code is srun's, and a signal's more than any")
{
    TaskStates states(5, "StepId=12.0");
    states.started({0, 1, 2, 3, 4});

    CHECK(states.ended("n1", {0}, 0).empty());
    CHECK_FALSE(states.any_failed());
    CHECK(states.ended("n1", {1}, 3 << 8) ==
          "n1: task 1: Exited with exit code 3");
    CHECK(states.exit_code() == 3);
    CHECK(states.ended("n2", {2, 3}, 2 << 8) ==
          "n2: tasks 2-3: Exited with exit code 2");
    CHECK(states.exit_code() == 3);
    CHECK(states.left() == 1);
    CHECK(states.ended("n2", {4}, 15) == "n2: task 4: Terminated");
    CHECK(states.exit_code() == 143);
    CHECK(states.left() == 0);
    CHECK(states.ended("n2", {4}, 0).empty()); // once more
    CHECK(states.left() == 0);
    CHECK(states.any_failed());
}

TEST_CASE("a node that is lost fails its tasks that had not ended")
{
    TaskStates states(4, "StepId=12.0");
    states.started({0, 1, 2});
    states.ended("n2", {1}, 0);

    states.lost({1, 2});

    CHECK(states.exit_code() == 1);
    CHECK(states.left() == 2);
    CHECK(states.describe() ==
          std::vector<std::string>{"StepId=12.0 task 0: running",
                                   "StepId=12.0 task 2: exited abnormally",
                                   "StepId=12.0 task 1: exited",
                                   "StepId=12.0 task 3: unknown"});
}
