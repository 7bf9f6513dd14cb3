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

TEST_CASE("each option comes as it was given, in order")
{
    auto wish = wish_in({"K8S_ENV_0=A=b=c", "K8S_IMAGE=a", "K8S_ENV_1=B=",
                         "K8S_VOLUME_0=data,home", "K8S_VOLUME_1=home,x",
                         "K8S_SERVICE_ACCOUNT=spark", "K8S_NAMESPACE=jobs"});

    CHECK(wish.value() == BatchWish{"a",
                                    {"A=b=c", "B="},
                                    {"data", "home", "x"},
                                    "spark",
                                    "jobs"});
    CHECK(wish_in({"K8S_VOLUME_0=data"}).value()->image.empty());
}

TEST_CASE("nobody gives an option without end")
{
    std::vector<std::string> entries;
    for (int i = 0; i < 1000; i++)
        entries.push_back("K8S_ENV_" + std::to_string(i) + "=A=b");
    CHECK_FALSE(wish_in(entries));
}

TEST_CASE("a partition's batch jobs have its image, and others do not")
{
    Conf burst = conf();
    burst.default_images = {{"burst", "a:1"}, {"more", "a:1"}, {"gpu", "b"}};
    auto image = [&](const char *partition,
                     std::optional<BatchWish> wish = std::nullopt)
        -> std::string {
        Desc desc = batch_job();
        std::string name = partition;
        desc.partition = name.empty() ? nullptr : name.data();
        auto now = with_default_image(wish, desc, burst, "gpu");
        if (!now)
            return "refused";
        return *now ? (*now)->image : "none";
    };

    CHECK(image("burst") == "a:1");
    CHECK(image("burst,more") == "a:1");
    CHECK(image("") == "b"); // the cluster's default partition
    CHECK(image("native") == "none");
    CHECK(image("burst,gpu") == "refused");
    CHECK(image("burst,native") == "refused");
    CHECK(image("burst", BatchWish{"mine"}) == "mine");
    CHECK(image("burst", BatchWish{.image = "", .service_account = "x"}) ==
          "a:1");
    CHECK(image("native", BatchWish{.image = "", .service_account = "x"})
              .empty());
    Desc interactive = batch_job();
    interactive.script = nullptr;
    CHECK(with_default_image({}, interactive, burst, "gpu").value() ==
          std::nullopt);
}

TEST_CASE("a job chooses from what the site lists, and from nothing else")
{
    Conf site = conf();
    site.batch_pod.choosable = {"data"};
    site.batch_namespaces = {"elsewhere"};
    site.batch_accounts = {"spark"};
    auto why = [&](const BatchWish &wish, const Conf &where) {
        return refuse_batch(batch_job(), wish, where, 64030).value_or("");
    };

    CHECK(why({"a", {}, {"data"}, "spark", "elsewhere"}, site).empty());
    CHECK(why({.image = "a", .name_space = "slurm-jobs"}, site).empty());
    CHECK(why({.image = "a", .volumes = {"home"}}, site)
              .contains("there are: data"));
    CHECK(why({.image = "a", .service_account = "admin"}, site)
              .contains("these are: spark"));
    CHECK(why({.image = "a", .name_space = "kube-system"}, site)
              .contains("these are: elsewhere"));
    CHECK(why({.image = "a", .volumes = {"data"}}, conf()).contains("none"));
    CHECK(why({.image = "a", .service_account = "spark"}, conf())
              .contains("none"));
    CHECK(why({.image = "", .volumes = {"data"}}, site)
              .contains("--k8s-image"));
}

TEST_CASE("the job's nodes are those that the template tolerates")
{
    Conf site = conf();
    CHECK(batch_features(site) == "k8s&k8s-untainted");
    site.batch_template = "/etc/slurm/pod.json";
    CHECK(batch_features(site) == "k8s&k8s-sbatch");
}

TEST_CASE("output files are handed over as sbatch says them")
{
    struct {
        std::uint8_t mode;
        bool by_conf;
        bool append;
    } rows[] = {{0, false, false},
                {0, true, true},
                {OPEN_MODE_APPEND, false, true},
                {OPEN_MODE_TRUNCATE, true, false}};
    for (auto [mode, by_conf, append] : rows) {
        Desc desc = batch_job();
        desc.std_out = text;
        desc.open_mode = mode;

        BatchScript batch = batch_script(desc, {"a"}, by_conf);

        CHECK(batch.output == text);
        CHECK(batch.error.empty());
        CHECK(batch.append == append);
    }
}

TEST_CASE("what is not understood is refused at submission, with the reason")
{
    for (std::vector<std::string> entries :
         {std::vector<std::string>{"K8S_IMAGE="}, {"K8S_IMAGE"},
          {"K8S_IMAGE=a b"}, {"K8S_IMAGE=a", "K8S_IMAGE=b"},
          {"K8S_IMAGE=a", "K8S_COLOUR=red"}, {"K8S_TEMPLATE=x"},
          {"K8S_IMAGE_0=a"}, {"K8S_ENV=A=b"}, {"K8S_ENV_=A=b"},
          {"K8S_ENV_x=A=b"}, {"K8S_ENV_0=A"}, {"K8S_ENV_0=SLURM_JOB_ID=1"},
          {"K8S_ENV_0=A=b", "K8S_ENV_0=A=c"}, {"K8S_VOLUME_0=a b"},
          {"K8S_SERVICE_ACCOUNT=A"}, {"K8S_NAMESPACE=../a"}}) {
        CAPTURE(entries.front());
        auto wish = wish_in(entries);
        REQUIRE_FALSE(wish);
        CHECK_FALSE(wish.error().empty());
    }
}

TEST_CASE("an ordinary script may run as a Pod")
{
    CHECK_FALSE(refuse_batch(batch_job(), {"a"}, conf(), 64030));
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
        {"scrontab", [](Desc &d) { d.bitflags = CRON_JOB; }},
        {"root", [](Desc &d) { d.user_id = 0; }},
        {"root", [](Desc &d) { d.group_id = 0; }},
        {"SlurmUser", [](Desc &d) { d.user_id = 64030; }},
    };
    for (auto [word, change] : rows) {
        CAPTURE(word);
        Desc desc = batch_job();
        change(desc);

        auto why = refuse_batch(desc, {"a"}, conf(), 64030);

        REQUIRE(why);
        CHECK(why->contains(word));
    }
}

TEST_CASE("without SbatchNamespace, as by default, no batch job runs as a Pod")
{
    auto why = refuse_batch(batch_job(), {"a"}, parse_conf("").value(), 64030);

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

    BatchScript batch = batch_script(desc, {"busybox"}, false);

    CHECK(batch.user_id == 1001);
    CHECK(batch.group_id == 1001);
    CHECK(batch.image == "busybox");
    CHECK(batch.script == script);
    CHECK(batch.work_dir == "anything");
    CHECK(batch.arguments == std::vector<std::string>{"x y"});
    CHECK(batch.environment == std::vector<std::string>{
                                   "USER=root", "SLURM_JOB_UID=0", "UID=0"});
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
