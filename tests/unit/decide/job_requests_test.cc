// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/job_requests.h"
#include "common/contract/batch_names.h"
#include "common/contract/names.h"

#include <doctest/doctest.h>
#include <functional>
#include <string>

using namespace bridge;

namespace {

constexpr std::chrono::sys_seconds created{std::chrono::seconds(1'000'000)};

// Of one Pod with 2 CPUs and 100 MiB.
JobDescription small_job()
{
    JobDescription job;
    job.cpus_per_task = 2;
    job.memory_per_node = MebiBytes{100};
    return job;
}

std::string apply(JobDescription &job, const TextMap &annotations)
{
    return apply_wishes(job, wishes_in(annotations), created);
}

std::string refusal_reason(const std::string &name, const std::string &value)
{
    JobDescription job = small_job();
    return apply(job, {{"slurmk8s/" + name, value}});
}

} // namespace

TEST_CASE("each wish is found under our prefix and both of Slinky's")
{
    for (const char *prefix :
         {"slurmk8s/", "slurmjob.slinky.slurm.net/", "slinky.slurm.net/"}) {
        CAPTURE(prefix);
        std::string name = std::string(prefix) + "qos";
        CHECK(wishes_in({{name, "high"}}) == Wishes{{"qos", {name, "high"}}});
    }
    Wishes wishes = wishes_in({{"slinky.slurm.net/qos", "old"},
                               {"slurmjob.slinky.slurm.net/qos", "new"},
                               {"slurmk8s/qos", "ours"},
                               {"slurmk8s/wckey", ""},
                               {"example.com/qos", "other"}});
    CHECK(wishes == Wishes{{"qos", {"slurmk8s/qos", "ours"}}});
    CHECK(value_of(wishes, "qos") == "ours");
    CHECK(value_of(wishes, "wckey") == "");
}

TEST_CASE("the value of one wish is what all wishes say")
{
    TextMap annotations{{"slinky.slurm.net/qos", "old"},
                        {"slurmjob.slinky.slurm.net/qos", "new"},
                        {"slurmk8s/qos", ""},
                        {"slurmk8s/wckey", "key"},
                        {names::generation_annotation, "1"}};
    for (const auto &[annotation, value] : annotations) {
        std::string name = annotation.substr(annotation.find('/') + 1);
        CAPTURE(annotation);
        CHECK(wish_value_in(annotations, name) ==
              value_of(wishes_in(annotations), name));
    }
    CHECK(wish_value_in(annotations, "qos") == "new");
    CHECK(wish_value_in(annotations, "partition").empty());
}

TEST_CASE("what the agent writes is nobody's wish")
{
    CHECK(wishes_in({{"slurmk8s/sbatch", "7 s0"},
                     {"slurmk8s/sbatch-ends", "1"},
                     {"slurmk8s/sbatch-hosts", "0 kn1 10.0.0.1"},
                     {"slurmk8s/sbatch-node", "0 1 kn1"},
                     {"slurmk8s/sbatch-srun", "slurmk8s-srun-0"}})
              .empty());
    CHECK(wishes_in({{names::generation_annotation, "1"},
                     {names::sluid_annotation, "s"},
                     {names::node_annotation, "kn1"},
                     {names::batch_annotation, "7 s 0"}}) == Wishes{});
}

TEST_CASE("each wish changes one thing of the job")
{
    using Check = std::function<bool(const JobDescription &)>;
    using Job = JobDescription;
    struct Row {
        const char *name;
        const char *value;
        Check changed;
    };
    const Row rows[] = {
        {"begin", "now+1hour",
         [](const Job &j) {
             return j.begin == created + std::chrono::hours(1);
         }},
        {"comment", "für Müller",
         [](const Job &j) { return j.comment == "für Müller"; }},
        {"constraints", "ssd|nvme",
         [](const Job &j) { return j.features == "ssd|nvme"; }},
        {"contiguous", "true", [](const Job &j) { return j.contiguous; }},
        {"cpu-per-task", "4",
         [](const Job &j) { return j.cpus_per_task == 4; }},
        {"cpu-per-task", "2500m",
         [](const Job &j) { return j.cpus_per_task == 3; }},
        {"deadline", "1970-02-01Z",
         [](const Job &j) {
             return j.deadline.time_since_epoch().count() == 31 * 86400;
         }},
        {"dependency", "afterok:12",
         [](const Job &j) { return j.dependency == "afterok:12"; }},
        {"exclusive", "true",
         [](const Job &j) { return j.sharing == Sharing::nobody; }},
        {"exclusive", "user",
         [](const Job &j) { return j.sharing == Sharing::same_user; }},
        {"exclusive", "mcs",
         [](const Job &j) { return j.sharing == Sharing::same_mcs_label; }},
        {"heterogeneous", "true",
         [](const Job &j) { return j.heterogeneous == true; }},
        {"heterogeneous", "false",
         [](const Job &j) { return j.heterogeneous == false; }},
        {"gres", "net:2,disk",
         [](const Job &j) { return j.gres == "gres/net:2,gres/disk"; }},
        {"job-name", "my job", [](const Job &j) { return j.name == "my job"; }},
        {"licenses", "foo:2",
         [](const Job &j) { return j.licenses == "foo:2"; }},
        {"mcs-label", "red", [](const Job &j) { return j.mcs_label == "red"; }},
        {"mem-per-node", "1Gi",
         [](const Job &j) { return j.memory_per_node == MebiBytes{1024}; }},
        {"nice", "50", [](const Job &j) { return j.nice == 50; }},
        {"nice", "-50", [](const Job &j) { return j.nice == -50; }},
        {"partition", "a,b", [](const Job &j) { return j.partition == "a,b"; }},
        {"priority", "0", [](const Job &j) { return j.priority == 0; }},
        {"priority", "4294967293",
         [](const Job &j) { return j.priority == 4294967293; }},
        {"reservation", "resv",
         [](const Job &j) { return j.reservation == "resv"; }},
        {"segment", "1", [](const Job &j) { return j.segment == 1; }},
        {"switches", "1@5",
         [](const Job &j) {
             return j.switches == 1 &&
                    j.switches_wait == std::chrono::minutes(5);
         }},
        {"timelimit", "1-0", [](const Job &j) { return j.time_limit == 1440; }},
        {"wckey", "key", [](const Job &j) { return j.wckey == "key"; }},
    };
    for (const Row &row : rows) {
        CAPTURE(row.name);
        CAPTURE(row.value);
        JobDescription job = small_job();
        CHECK(apply(job, {{std::string("slurmk8s/") + row.name, row.value}}) ==
              "");
        CHECK(row.changed(job));
        CHECK_FALSE(row.changed(small_job()));
    }
}

TEST_CASE("wishes that are settled elsewhere, or change nothing, are taken")
{
    for (const auto &[name, value] : TextMap{{"account", "physics"},
                                             {"contiguous", "false"},
                                             {"exclusive", "false"},
                                             {"group-id", "users"},
                                             {"max-nodes", "4"},
                                             {"min-nodes", "1"},
                                             {"qos", "high"},
                                             {"user-id", "1001"}}) {
        CAPTURE(name);
        JobDescription job = small_job();
        CHECK(apply(job, {{"slurmk8s/" + name, value}}) == "");
        CHECK(job == small_job());
    }
}

TEST_CASE("a bad value is named with its annotation")
{
    for (const auto &[name, value] :
         std::initializer_list<std::pair<const char *, const char *>>{
             {"account", "a b"},
             {"begin", "tomorrow"},
             {"comment", "a\nb"},
             {"constraints", "[a|b]"},
             {"contiguous", "perhaps"},
             {"cpu-per-task", "1"},
             {"cpu-per-task", "70000"},
             {"cpu-per-task", "x"},
             {"deadline", "now-1"},
             {"dependency", "expand:7"},
             {"exclusive", "yes"},
             {"gres", "gpu:1"},
             {"gres", "net:2,gpu"},
             {"gres", "shard:2"},
             {"gres", "gres/gpu"},
             {"group-id", "a b"},
             {"heterogeneous", "1"},
             {"heterogeneous", "TRUE"},
             {"job-name", "a\tb"},
             {"licenses", "foo:0"},
             {"max-nodes", "0"},
             {"mcs-label", "$x"},
             {"mem-per-node", "99Mi"},
             {"mem-per-node", "0"},
             {"mem-per-node", "-1"},
             {"min-nodes", "2"},
             {"nice", "2147483646"},
             {"partition", "a;b"},
             {"priority", "-1"},
             {"priority", "4294967294"},
             {"qos", "a\"b"},
             {"reservation", "("},
             {"segment", "2"},
             {"switches", "0"},
             {"timelimit", "1:2:3:4"},
             {"user-id", "$(id)"},
             {"wckey", "*"}}) {
        CAPTURE(name);
        CAPTURE(value);
        std::string reason = refusal_reason(name, value);
        CHECK(reason.starts_with(std::string("annotation slurmk8s/") + name +
                                 " must "));
    }
    CHECK(refusal_reason("min-nodes", "2").ends_with("not \"2\""));
    CHECK(refusal_reason("moon-phase", "full") ==
          "annotation slurmk8s/moon-phase is not supported");
}

TEST_CASE("a hostile value is shortened and cannot reach a terminal")
{
    std::string reason =
        refusal_reason("partition", "\x1b[2J" + std::string(5000, 'x'));

    CHECK(reason.size() < 300);
    CHECK_FALSE(reason.contains('\x1b'));
    CHECK(reason.ends_with("…\""));
}

TEST_CASE("several Pods may ask for as many nodes as they are")
{
    JobDescription job;
    job.tasks = job.max_nodes = 4;
    job.cpus_per_task = 2;
    job.memory_per_cpu = MebiBytes{50};

    CHECK(apply(job, {{"slurmk8s/min-nodes", "2"},
                      {"slurmk8s/max-nodes", "3"},
                      {"slurmk8s/cpu-per-task", "3"}}) == "");
    CHECK(job.min_nodes == 2);
    CHECK(job.max_nodes == 3);
    CHECK(job.cpus_per_task == 3);
    CHECK(job.memory_per_cpu == MebiBytes{34}); // 3 × 34 covers 100

    CHECK(apply(job, {{"slurmk8s/min-nodes", "5"}}) != "");
    CHECK(apply(job, {{"slurmk8s/min-nodes", "4"},
                      {"slurmk8s/max-nodes", "3"}}) != "");
    CHECK(apply(job, {{"slurmk8s/mem-per-node", "1Gi"}}) != "");
}

TEST_CASE("the wishes are told in short")
{
    CHECK(wishes_text(wishes_in({{"slurmk8s/qos", "high"},
                                 {"slinky.slurm.net/licenses", "a:1"}})) ==
          "licenses=a:1, qos=high");
    CHECK(wishes_text({}) == "");
    TextMap many;
    for (int i = 0; i < 100; i++)
        many["slurmk8s/x" + std::to_string(i)] = std::string(100, 'y');
    CHECK(wishes_text(wishes_in(many)).size() < 600);
}

TEST_CASE("who asks to be held, or for later, asks to wait")
{
    const std::chrono::sys_seconds created{std::chrono::seconds(1000)};
    auto asks = [&](const std::string &name, const std::string &value) {
        return asks_to_wait(wishes_in({{"slurmk8s/" + name, value}}), created);
    };
    CHECK(asks("priority", "0"));
    CHECK(asks("priority", "00"));
    CHECK(asks("dependency", "afterok:12"));
    CHECK(asks("dependency", "singleton"));
    CHECK(asks("begin", "now+1"));
    CHECK(asks("begin", "2100-01-01"));
    CHECK_FALSE(asks("begin", "now"));
    CHECK_FALSE(asks("begin", "1970-01-01T00:00:00Z"));
    CHECK_FALSE(asks("priority", "1"));
    CHECK_FALSE(asks("qos", "0"));
    // What is refused anyway.
    CHECK_FALSE(asks("priority", "none"));
    CHECK_FALSE(asks("dependency", "expand:1"));
    CHECK_FALSE(asks("begin", "soon"));
    CHECK_FALSE(asks_to_wait({}, created));
}
