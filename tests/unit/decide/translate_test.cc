// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/job_values.h"
#include "agent/decide/translate.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>
#include <optional>
#include <string>

using namespace bridge;

namespace {

const Identity alice = {1001, 1002, "science", "high", 0};
const NodeMap kn1 = {{"kn1", "node-1"}};
constexpr std::int64_t mib = 1 << 20;

Pod annotated(const std::string &name, const std::string &value)
{
    Pod pod = make_pod("web");
    pod.annotations[name] = value;
    return pod;
}

} // namespace

TEST_CASE("a Pod alone becomes a job of one task on one node")
{
    Gang gang = make_gang(make_pod("web", MilliCpu{1500}, Bytes{3 * mib + 1}));
    Conf conf;
    conf.partition = "pods";

    JobDescription job = describe_job(gang, alice, conf);

    CHECK(job.name == "web");
    CHECK(job.user_id == 1001);
    CHECK(job.group_id == 1002);
    CHECK(job.account == "science");
    CHECK(job.qos == "high");
    CHECK(job.partition == "pods");
    CHECK(job.features == "k8s&k8s-untainted");
    CHECK(job.tasks == 1);
    CHECK(job.cpus_per_task == 2);
    CHECK(job.min_nodes == 1);
    CHECK(job.max_nodes == 1);
    CHECK(job.memory_per_node == MebiBytes{4});
    CHECK(job.memory_per_cpu == MebiBytes{0});
    CHECK_FALSE(job.time_limit);
    CHECK(job.tag == GangTag{"default/web", "uid-web", 0});
}

TEST_CASE("a Pod without requests asks for 1 CPU and 1 MiB")
{
    Gang gang = make_gang(make_pod("web", MilliCpu{0}, Bytes{0}));

    JobDescription job = describe_job(gang, alice, {});

    CHECK(job.cpus_per_task == 1);
    CHECK(job.memory_per_node == MebiBytes{1});
}

TEST_CASE("a gang becomes one job with a task a Pod, sized for the largest")
{
    Gang gang = make_gang(make_pod("web-0", MilliCpu{2500}, Bytes{1}));
    gang.pods.push_back(
        share(make_pod("web-1", MilliCpu{250}, Bytes{4 * mib})));

    JobDescription job = describe_job(gang, alice, {});

    CHECK(job.tasks == 2);
    CHECK(job.max_nodes == 2);
    CHECK(job.cpus_per_task == 3);
    CHECK(job.memory_per_node == MebiBytes{0});
    CHECK(job.memory_per_cpu == MebiBytes{2}); // 3 × 2 covers 4
}

TEST_CASE("annotations under any of the three prefixes say something of the "
          "job")
{
    for (const char *prefix :
         {"slurmk8s/", "slurmjob.slinky.slurm.net/", "slinky.slurm.net/"}) {
        CAPTURE(prefix);
        Pod pod = annotated(std::string(prefix) + "partition", "gpu");
        pod.annotations[std::string(prefix) + "timelimit"] = "90";
        pod.annotations[std::string(prefix) + "job-name"] = "my job";
        Gang gang = make_gang(pod);

        JobDescription job = describe_job(gang, alice, {});

        CHECK(unfit_reason(gang) == "");
        CHECK(job.partition == "gpu");
        CHECK(job.time_limit == 90);
        CHECK(job.name == "my job");
    }
}

TEST_CASE("our prefix goes before Slinky's, and Slinky's new one before the "
          "old")
{
    Pod pod = annotated("slinky.slurm.net/partition", "old");
    pod.annotations["slurmjob.slinky.slurm.net/partition"] = "new";
    CHECK(describe_job(make_gang(pod), alice, {}).partition == "new");

    pod.annotations["slurmk8s/partition"] = "ours";
    CHECK(describe_job(make_gang(pod), alice, {}).partition == "ours");
}

TEST_CASE("the Pod's own deadline limits the job, unless an annotation does")
{
    struct Row {
        std::int64_t seconds;
        std::optional<std::uint32_t> minutes;
    };
    const Row rows[] = {{1, 1},
                        {60, 1},
                        {61, 2},
                        {0, {}},
                        {-1, {}},
                        {INT64_MIN, {}},
                        {INT64_MAX, 5256000}};
    for (const Row &row : rows) {
        CAPTURE(row.seconds);
        Pod pod = make_pod("web");
        pod.active_deadline = row.seconds;
        CHECK(describe_job(make_gang(pod), alice, {}).time_limit ==
              row.minutes);
    }
    Pod both = annotated("slurmk8s/timelimit", "5");
    both.active_deadline = 3600;
    CHECK(describe_job(make_gang(both), alice, {}).time_limit == 5);
}

TEST_CASE("the job carries the highest generation that is known")
{
    Gang gang = make_gang(annotated(names::generation_annotation, "3"));
    gang.least_generation = 4;

    CHECK(describe_job(gang, alice, {}).tag.generation == 4);
}

TEST_CASE("a time limit is read in every form that sbatch takes")
{
    struct Row {
        const char *text;
        std::uint32_t minutes;
    };
    const Row rows[] = {
        {"1", 1},
        {"90", 90},
        {"007", 7},
        {"0", 0},
        {"0:0", 0},
        {"0:01", 1},
        {"1:00", 1},
        {"1:01", 2},
        {"90:30", 91},
        {"0:90", 2},
        {"1:0:0", 60},
        {"01:30:00", 90},
        {"0:0:1", 1},
        {"100:00:00", 6000},
        {"1-0", 1440},
        {"1-1", 1500},
        {"0-1", 60},
        {"1-1:1", 1501},
        {"1-1:1:1", 1502},
        {"2-12:30:00", 3630},
        {"0-0:0:0", 0},
        {"3650-0", 5256000},
        {"5256000", 5256000},
    };
    for (const Row &row : rows) {
        CAPTURE(row.text);
        CHECK(parse_time_limit(row.text) == row.minutes);
    }
}

TEST_CASE("other texts are no time limit")
{
    const std::string rows[] = {
        "",
        " ",
        "1 ",
        " 1",
        "-",
        "-1",
        "1-",
        "1--1",
        "1-2-3",
        "1-:1",
        ":",
        ":1",
        "1:",
        "1::1",
        "1:2:3:4",
        "1-1:2:3:4",
        "1-1:2:",
        "+1",
        "1.5",
        "1h",
        "0x10",
        "1e3",
        "one",
        "UNLIMITED",
        "5256001",
        "3651-0",
        "3650-0:0:1",
        "4294967295",
        "4294967296",
        "99999999999999999999",
        "4294967296-0",
        "315360000-315360000:315360000:315360000",
        std::string(100000, '1'),
        std::string(100000, ':'),
        std::string(100000, '-'),
        std::string("1\0", 2),
        "1\n",
        "\xd9\xa1", // an Arabic digit
    };
    for (const std::string &row : rows) {
        CAPTURE(row.substr(0, 50));
        CHECK_FALSE(parse_time_limit(row));
    }
}

TEST_CASE("what we cannot honour is an objection in words")
{
    Pod two = make_pod("web");
    two.unfit_reasons = {"first", "second"};
    Pod many = make_pod("web", MilliCpu{65536000});

    CHECK(unfit_reason(make_gang(make_pod("web"))) == "");
    CHECK(unfit_reason(make_gang(two)) == "first");
    CHECK(unfit_reason(make_gang(many)) != "");
    CHECK(unfit_reason(make_gang(make_pod("web", MilliCpu{65535000}))) == "");
    CHECK(unfit_reason(make_gang(make_pod("web", MilliCpu{INT64_MAX}))) != "");
}

TEST_CASE("a wish that we do not know is refused by its name, not passed over")
{
    for (const char *name :
         {"slurmk8s/moon-phase", "slurmjob.slinky.slurm.net/nodelist",
          "slinky.slurm.net/x", "slurmk8s/user", "slurmk8s/Timelimit",
          "slurmk8s/partition/x"}) {
        CAPTURE(name);
        std::string reason = unfit_reason(make_gang(annotated(name, "x")));
        CHECK(reason ==
              std::string("annotation ") + name + " is not supported");
    }
    for (const char *name :
         {"example.com/gres", "scheduler.slinky.slurm.net/x", "gres",
          names::generation_annotation, names::node_annotation}) {
        CAPTURE(name);
        CHECK(unfit_reason(make_gang(annotated(name, "x"))) == "");
    }
}

TEST_CASE("a time limit that is none is an objection that quotes little of it")
{
    std::string reason = unfit_reason(
        make_gang(annotated("slurmk8s/timelimit", std::string(100000, 'x'))));

    CHECK(reason.starts_with("annotation slurmk8s/timelimit must be"));
    CHECK(reason.size() < 300);
}

TEST_CASE("an objection names the Pod in a gang of several")
{
    Gang gang = make_gang(make_pod("web-0"));
    Pod bad = make_pod("web-1");
    bad.unfit_reasons = {"it is bad"};
    gang.pods.push_back(share(bad));

    CHECK(unfit_reason(gang) == "Pod web-1: it is bad");
}

TEST_CASE("an allocation places the Pod on the Node behind its node")
{
    Gang gang = make_gang(make_pod("web"));
    Job job = make_job(7, JobState::configuring);

    auto placement = place(gang, job, kn1);

    REQUIRE(placement);
    CHECK(*placement == std::vector<std::string>{"node-1"});
}

TEST_CASE("memory may be given by the CPU")
{
    Gang gang = make_gang(make_pod("web", MilliCpu{3000}, Bytes{6 * mib}));
    Job job = make_job(7, JobState::configuring);
    job.cpus = 3;
    job.memory_per_node = {};
    job.memory_per_cpu = MebiBytes{2};
    CHECK(place(gang, job, kn1));

    job.memory_per_cpu = MebiBytes{1};
    CHECK_FALSE(place(gang, job, kn1));
}

TEST_CASE("an allocation that does not cover the Pods is refused with numbers")
{
    Gang gang = make_gang(make_pod("web", MilliCpu{2000}, Bytes{2 * mib}));
    Job fits = make_job(7, JobState::configuring);
    fits.cpus = 2;
    fits.memory_per_node = MebiBytes{2};
    Job cpus = fits;
    cpus.cpus = 1;
    Job memory = fits;
    memory.memory_per_node = MebiBytes{1};
    Job none = fits;
    none.nodes.clear();
    Job two = fits;
    two.nodes = {"kn1", "kn2"};
    Job elsewhere = fits;
    elsewhere.nodes = {"kn9"};

    REQUIRE(place(gang, fits, kn1));
    for (const Job &job : {cpus, memory, none, two, elsewhere}) {
        auto placement = place(gang, job, kn1);
        REQUIRE_FALSE(placement);
        CHECK(placement.error().code == Code::conflict);
    }
    CHECK(place(gang, cpus, kn1).error().message ==
          "the allocation has 1 CPUs and 2 MiB, but the Pods ask for 2 CPUs "
          "and 2 MiB");
    CHECK(place(gang, elsewhere, kn1).error().message ==
          "Slurm node kn9 has no Kubernetes Node");
}

TEST_CASE(
    "autoscalers are told to leave the Node, unless the Pod says otherwise")
{
    Pod pod = make_pod("web");
    CHECK(keep_node_annotations(pod) ==
          TextMap{{"karpenter.sh/do-not-disrupt", "true"},
                  {"cluster-autoscaler.kubernetes.io/safe-to-evict", "false"}});

    pod.annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] = "true";

    CHECK(keep_node_annotations(pod) ==
          TextMap{{"karpenter.sh/do-not-disrupt", "true"}});
}

TEST_CASE("a binding stamps the Pod with its job, its node and its generation")
{
    Job job = make_job(812, JobState::configuring);
    job.tag.generation = 3;

    CHECK(binding_labels(job) ==
          TextMap{{"scheduler.slinky.slurm.net/slurm-jobid", "812"}});
    CHECK(binding_annotations(job, "kn1") ==
          TextMap{{"slinky.slurm.net/slurm-node", "kn1"},
                  {"slurmk8s/sluid", job.ref.sluid.str()},
                  {"slurmk8s/generation", "3"}});
}
