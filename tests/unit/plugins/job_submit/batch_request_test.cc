// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/batch_refusal.h"
#include "plugins/job_submit/batch_request.h"
#include "plugins/shared/pod_array.h"
#include "tests/unit/flows/batch_desc.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace bridge;

TEST_CASE("the job's nodes are those that the template tolerates")
{
    Conf site = conf();
    CHECK(batch_features("", site) == "k8s&k8s-untainted");
    site.batch_template = "/etc/slurm/pod.json";
    CHECK(batch_features("", site) == "k8s&k8s-sbatch");
}

TEST_CASE(
    "a signal is for the script where B: says so, and a time before the end")
{
    struct {
        std::uint16_t flags;
        std::uint16_t signal;
        std::uint16_t seconds;
        std::uint16_t kept;
    } rows[] = {{KILL_JOB_BATCH, 10, 60, 10},
                {0, 10, 60, 0}, // for steps, of which there are none
                {KILL_JOB_BATCH, 10, 0, 0},
                {KILL_JOB_BATCH, 0, 0, 0},
                {NO_VAL16, NO_VAL16, NO_VAL16, 0}}; // as libslurm leaves them
    for (auto [flags, signal, seconds, kept] : rows) {
        Desc desc = batch_job();
        desc.warn_flags = flags;
        desc.warn_signal = signal;
        desc.warn_time = seconds;
        CHECK_FALSE(batch_refusal_reason(desc, {"a"}, conf(), 64030));

        BatchScript batch = batch_script(desc, {"a"}, false);

        CHECK(batch.signal == kept);
        CHECK(batch.signal_seconds == (kept ? seconds : 0));
    }
}

TEST_CASE("the file for stdin is handed over, and no file where there is none")
{
    Desc desc = batch_job();
    desc.std_in = text;
    CHECK(batch_script(desc, {"a"}, false).input == text);
    std::string none = "/dev/null"; // which sbatch fills in
    desc.std_in = none.data();
    CHECK(batch_script(desc, {"a"}, false).input.empty());
}

TEST_CASE("output files are handed over as sbatch says them")
{
    struct {
        std::uint8_t mode;
        bool by_conf;
        bool append;
        std::vector<std::string> variable;
    } rows[] = {{0, false, false, {}},
                {0, true, true, {}},
                {OPEN_MODE_APPEND, false, true, {"SLURM_OPEN_MODE=a"}},
                {OPEN_MODE_TRUNCATE, true, false, {"SLURM_OPEN_MODE=t"}}};
    for (const auto &[mode, by_conf, append, variable] : rows) {
        Desc desc = batch_job();
        desc.std_out = text;
        desc.open_mode = mode;

        BatchScript batch = batch_script(desc, {"a"}, by_conf);

        CHECK(batch.output == text);
        CHECK(batch.error.empty());
        CHECK(batch.append == append);
        CHECK(batch.environment == variable);
    }
}

TEST_CASE("the file has the job's ids, not what the environment says of them")
{
    std::string entries[] = {"USER=root", "SLURM_JOB_UID=0", "UID=0"};
    char *environment[] = {entries[0].data(), entries[1].data(), nullptr,
                           entries[2].data()};
    std::string words[] = {"/home/a/job.sh", "x y"};
    char *arguments[] = {words[0].data(), words[1].data()};
    Desc desc = batch_job();
    desc.environment = environment;
    desc.env_size = 4;
    desc.argv = arguments;
    desc.argc = 2;
    desc.work_dir = text;

    BatchScript batch = batch_script(desc, {"busybox"}, false);

    CHECK(batch.user_id == 1001);
    CHECK(batch.group_id == 1001);
    CHECK(batch.image == "busybox");
    CHECK(batch.script == script);
    CHECK(batch.work_dir == "anything");
    CHECK(batch.arguments == std::vector<std::string>{"x y"});
    CHECK(batch.environment ==
          std::vector<std::string>{"USER=root", "SLURM_JOB_UID=0", "UID=0"});
}

TEST_CASE("a quote of an argument or a variable counts as the shell has it")
{
    BatchScript batch;
    batch.script = std::string(100, '\'');
    CHECK(size_in_secret(batch, 1000) == 1000);
    batch.arguments = {"''", ""};
    CHECK(size_in_secret(batch, 1000) == 1000 + 2 * 8 + 2 * 3);
    batch.environment = {"A='"};
    batch.variables = {"B='"};

    CHECK(size_in_secret(batch, 1000) == 1000 + 4 * 8 + 4 * 3);
}

TEST_CASE(
    "only an array that job_submit/k8s has prepared becomes an external job")
{
    char range[] = "0-9%3";
    std::string stub = array_stub;
    std::string marked = "K8S_GANG=sbatch:0123456789abcdef0123456789abcdef";
    std::string others = "K8S_GANG=x";
    std::vector<char *> entries{nullptr, marked.data()};
    Desc desc = batch_job();
    desc.array_inx = range;
    desc.script = stub.data();
    desc.spank_job_env = entries.data();
    desc.spank_job_env_size = 2;

    CHECK(is_pod_array(desc));
    CHECK(batch_script(desc, BatchWish{"a"}, false).array == "0-9%3");
    auto changed = [&](auto change) {
        Desc other = desc;
        change(other);
        return is_pod_array(other);
    };
    CHECK_FALSE(changed([](Desc &d) { d.script = script; })); // by a plugin
    CHECK_FALSE(changed([](Desc &d) { d.script = nullptr; }));
    CHECK_FALSE(changed([](Desc &d) { d.array_inx = nullptr; }));
    CHECK_FALSE(changed([](Desc &d) { d.spank_job_env = nullptr; }));
    CHECK_FALSE(changed([](Desc &d) { d.spank_job_env_size = 1; }));
    entries[1] = others.data();
    CHECK_FALSE(is_pod_array(desc));
}
