// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/batch_request.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace bridge;

namespace {

using Desc = job_desc_msg_t;

char script[] = "#!/bin/sh\nhostname\n";
char text[] = "anything";
char gres[] = "gres/gpu:1";

// As sbatch sends it; the values that matter here.
Desc batch_job()
{
    Desc desc{};
    desc.script = script;
    desc.user_id = 1001;
    desc.group_id = 1001;
    desc.het_job_offset = NO_VAL;
    desc.min_nodes = desc.max_nodes = NO_VAL;
    desc.requeue = NO_VAL16;
    return desc;
}

Conf conf()
{
    Conf conf;
    conf.batch_namespace = "slurm-jobs";
    return conf;
}

auto wish_in(std::vector<std::string> texts)
{
    std::vector<char *> entries{nullptr};
    for (std::string &entry : texts)
        entries.push_back(entry.data());
    return batch_wish(entries);
}

} // namespace

TEST_CASE("only a job with spank/k8s's entry is a batch job for Kubernetes")
{
    CHECK(wish_in({}).value() == std::nullopt);
    CHECK(wish_in({"A=1", "XK8S_IMAGE=a"}).value() == std::nullopt);
    // Slurm's own copy of the option, and the mark of the agent's jobs
    CHECK(wish_in({"_SLURM_SPANK_OPTION_k8s_k8s_image=a"}).value() ==
          std::nullopt);
    CHECK(wish_in({"K8S_GANG=x"}).value() == std::nullopt);
    CHECK(wish_in({"A=1", "K8S_IMAGE=busybox:1"}).value() ==
          BatchWish{"busybox:1"});
}

TEST_CASE("what is not understood is refused at submission, with the reason")
{
    for (std::vector<std::string> entries :
         {std::vector<std::string>{"K8S_IMAGE="}, {"K8S_IMAGE"},
          {"K8S_IMAGE=a b"}, {"K8S_IMAGE=a", "K8S_IMAGE=b"},
          {"K8S_IMAGE=a", "K8S_COLOUR=red"}, {"K8S_TEMPLATE=x"}}) {
        CAPTURE(entries.front());
        auto wish = wish_in(entries);
        REQUIRE_FALSE(wish);
        CHECK_FALSE(wish.error().empty());
    }
}

TEST_CASE("an ordinary script may run as a Pod")
{
    CHECK_FALSE(refuse_batch(batch_job(), conf(), 64030));
}

TEST_CASE("what a Pod cannot be is refused in the words of sbatch's options")
{
    struct {
        const char *word;
        void (*change)(Desc &desc);
    } rows[] = {
        {"sbatch", [](Desc &d) { d.script = nullptr; }},
        {"--array", [](Desc &d) { d.array_inx = text; }},
        {"heterogeneous", [](Desc &d) { d.het_job_offset = 0; }},
        {"--nodes", [](Desc &d) { d.min_nodes = 2; }},
        {"--constraint", [](Desc &d) { d.features = text; }},
        {"--prefer", [](Desc &d) { d.prefer = text; }},
        {"--gres", [](Desc &d) { d.tres_per_node = gres; }},
        {"--gres", [](Desc &d) { d.tres_per_task = gres; }},
        {"--requeue", [](Desc &d) { d.requeue = 1; }},
        {"--signal", [](Desc &d) { d.warn_signal = 10; }},
        {"--container", [](Desc &d) { d.container = text; }},
        {"--input", [](Desc &d) { d.std_in = text; }},
        {"root", [](Desc &d) { d.user_id = 0; }},
        {"root", [](Desc &d) { d.group_id = 0; }},
        {"SlurmUser", [](Desc &d) { d.user_id = 64030; }},
    };
    for (auto [word, change] : rows) {
        CAPTURE(word);
        Desc desc = batch_job();
        change(desc);

        auto why = refuse_batch(desc, conf(), 64030);

        REQUIRE(why);
        CHECK(why->contains(word));
    }
}

TEST_CASE("without SbatchNamespace, as by default, no batch job runs as a Pod")
{
    auto why = refuse_batch(batch_job(), parse_conf("").value(), 64030);

    REQUIRE(why);
    CHECK(why->contains("SbatchNamespace"));
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

    BatchScript batch = batch_script(desc, {"busybox"});

    CHECK(batch.user_id == 1001);
    CHECK(batch.group_id == 1001);
    CHECK(batch.image == "busybox");
    CHECK(batch.script == script);
    CHECK(batch.work_dir == "anything");
    CHECK(batch.arguments == std::vector<std::string>{"x y"});
    CHECK(batch.environment == std::vector<std::string>{
                                   "USER=root", "SLURM_JOB_UID=0", "UID=0"});
}

TEST_CASE("a script that is too large is refused with both sizes")
{
    Conf small = conf();
    small.max_script_size = 1024;

    CHECK_FALSE(refuse_size(1024, small));
    auto why = refuse_size(1025, small);

    REQUIRE(why);
    CHECK(why->contains("1025"));
    CHECK(why->contains("1024"));
    CHECK(why->contains("MaxScriptSize"));
}
