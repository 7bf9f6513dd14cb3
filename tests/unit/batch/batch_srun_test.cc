// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/srun.h"

#include "agent/batch/pod.h"
#include "agent/gang/batch_place.h"
#include "common/base/hexadecimal.h"
#include "common/contract/names.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <cstdio>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <utility>
#include <vector>

using namespace bridge;

namespace {

const ObjectKey key{"slurm-jobs", "slurmk8s-srun-x"};

Json map_of(const std::string &program)
{
    return *Json::parse(srun_map_body(key, program));
}

Pod first_pod()
{
    Pod pod;
    pod.key = {"slurm-jobs", "job-7-01234567"};
    pod.uid = "u1";
    return pod;
}

// The Pod on one of these nodes; srun: its ConfigMap.
Json body_of(std::vector<std::string> nodes, std::uint32_t rank,
             const std::string &srun)
{
    BatchJob batch;
    batch.job.ref = {7, Sluid{4711}};
    batch.job.nodes = std::move(nodes);
    batch.job.cpus = 2;
    batch.user_id = batch.group_id = 1001;
    Conf conf;
    conf.batch_namespace = "slurm-jobs";
    BatchMark mark{batch.job.ref, "0123456789abcdef0123456789abcdef"};
    auto text =
        batch_pod_body(on_node(batch, rank), {.image = "busybox"}, {}, mark,
                       conf, place_on(batch, rank, rank ? "u1" : ""), srun);
    REQUIRE(text.has_value());
    return *Json::parse(*text);
}

Json body_on(std::uint32_t rank, const std::string &srun,
             const std::string &node = "kn2")
{
    return body_of({"kn1", node}, rank, srun);
}

std::string mounts_of(const Json &pod)
{
    std::string text;
    for (const Json &mount : pod.items("spec/containers/0/volumeMounts")) {
        text += mount.text("name") + "=" + mount.text("mountPath");
        text += mount.flag("readOnly") ? " " : "(rw) ";
    }
    return text;
}

std::string secret_files(const Json &pod)
{
    std::string text;
    for (const Json &volume : pod.items("spec/volumes"))
        for (const Json &item : volume.at("secret").items("items"))
            text += item.text("key") + ">" + item.text("path") + " ";
    return text;
}

} // namespace

TEST_CASE(
    "the ConfigMap with srun has a name by what is in it, and never changes")
{
    Json map = map_of("\x7f"
                      "ELF");

    CHECK(srun_map_name("a") == srun_map_name("a"));
    CHECK(srun_map_name("a") != srun_map_name("b"));
    CHECK(srun_map_name("a").starts_with("slurmk8s-srun-"));
    CHECK(is_hexadecimal(srun_map_name("a").substr(14), 16));
    CHECK(map.text("metadata/name") == key.name);
    CHECK(map.text("metadata/namespace") == key.ns);
    CHECK(map.flag("immutable"));
    CHECK(map.text("binaryData/srun") == "f0VMRg==");
}

TEST_CASE("a ConfigMap with something else, or that may change, is not srun's")
{
    CHECK(is_srun_map(map_of("abc"), "abc"));
    CHECK_FALSE(is_srun_map(map_of("abd"), "abc"));
    CHECK_FALSE(is_srun_map(*Json::parse("{}"), "abc"));
    CHECK_FALSE(
        is_srun_map(*Json::parse(R"({"binaryData":{"srun":"YWJj"}})"), "abc"));
    CHECK_FALSE(is_srun_map(
        *Json::parse(R"({"immutable":true,"data":{"srun":"abc"}})"), "abc"));
}

TEST_CASE("a program that is missing, empty or too large is no srun")
{
    TemporaryDirectory directory;
    std::string path = directory.path + "/srun";

    CHECK(read_srun("").error().code == Code::not_found);
    CHECK(read_srun(path).error().code == Code::not_found);
    std::string odd = directory.path + "/odd"; // names itself
    std::filesystem::create_symlink(odd, odd);
    CHECK(read_srun(odd).error().code == Code::busy);
    std::ofstream(path) << "";
    CHECK(read_srun(path).error().code == Code::rejected);
    std::ofstream(path) << std::string(1 << 20, 'x');
    CHECK(read_srun(path).value().size() == 1 << 20);
    std::ofstream(path) << std::string((1 << 20) + 1, 'x');
    CHECK(read_srun(path).error().code == Code::rejected);
}

TEST_CASE(
    "a job's Service is headless, selects its Pods and goes with a worker")
{
    Pod worker = first_pod();
    worker.key.name += "-1";
    worker.uid = "u2";
    Json service = *Json::parse(batch_service_body(first_pod(), worker));

    CHECK(service.text("metadata/name") == "job-7-01234567");
    CHECK(service.text("metadata/ownerReferences/0/name") ==
          "job-7-01234567-1");
    CHECK(service.text("metadata/ownerReferences/0/uid") == "u2");
    CHECK(service.text("spec/clusterIP") == "None");
    CHECK(service.flag("spec/publishNotReadyAddresses"));
    CHECK(service.at("spec/selector").member(names::gang_label).text() ==
          "job-7-01234567");
    CHECK(service.items("spec/ports").empty());
    CHECK(is_service_of(service, worker));
    Pod later = worker;
    later.uid = "u3";
    CHECK_FALSE(is_service_of(service, later));
    CHECK_FALSE(is_service_of(service, first_pod()));
    CHECK_FALSE(is_service_of(*Json::parse("{}"), worker));
}

TEST_CASE("whose a Service is that has the name of a job's")
{
    Pod worker = first_pod();
    worker.key.name += "-1";
    worker.uid = "u2";
    Pod earlier = worker;
    earlier.uid = "u1";
    const std::string text = batch_service_body(first_pod(), earlier);
    auto with = [&](const std::string &from, const std::string &to) {
        std::string changed = text;
        REQUIRE(changed.contains(from));
        return *Json::parse(
            changed.replace(changed.find(from), from.size(), to));
    };

    CHECK(is_service_of(*Json::parse(text), earlier));
    CHECK_FALSE(was_service_of(*Json::parse(text), earlier));
    CHECK(was_service_of(*Json::parse(text), worker));
    CHECK_FALSE(was_service_of(*Json::parse(text), first_pod()));
    Json going = with(R"("metadata":{)",
                      R"("metadata":{"deletionTimestamp":"2026-01-01",)");
    CHECK_FALSE(is_service_of(going, earlier));
    CHECK(was_service_of(going, earlier));

    std::string owner =
        R"({"apiVersion":"v1","kind":"Pod","name":"x","uid":"x"})";
    for (const auto &[from, to] :
         std::vector<std::pair<std::string, std::string>>{
             {R"("None")", R"("10.0.0.1")"},
             {R"("publishNotReadyAddresses":true)",
              R"("publishNotReadyAddresses":false)"},
             {R"("selector":{)", R"("selector":{"app":"mine",)"},
             {R"("selector":{"slurmk8s/gang":")",
              R"("selector":{"slurmk8s/gang":"x)"},
             {R"("selector")", R"("ports":[{"port":22}],"selector")"},
             {R"("ownerReferences":[)", R"("ownerReferences":[)" + owner + ","},
             {R"("kind":"Pod")", R"("kind":"Node")"}}) {
        CAPTURE(to);
        CHECK_FALSE(is_service_of(with(from, to), earlier));
        CHECK_FALSE(was_service_of(with(from, to), worker));
    }
}

TEST_CASE("the key of a job's Pods is random")
{
    std::string one = new_step_key().value();

    CHECK(is_hexadecimal(one, 64));
    CHECK(one != new_step_key().value());
}

TEST_CASE("the key of a job is made of what its script's file has, for each "
          "Pod another")
{
    std::string random(64, 'a');
    std::string one = step_key_of(random, "job-7-1-01234567");

    CHECK(is_hexadecimal(one, 64));
    CHECK(one == step_key_of(random, "job-7-1-01234567"));
    CHECK(one != step_key_of(random, "job-7-2-01234567"));
    CHECK(one != step_key_of(std::string(64, 'b'), "job-7-1-01234567"));
    CHECK_FALSE(one.contains(random));
}

TEST_CASE("what stands in place of srun says why, whatever the words are")
{
    TemporaryDirectory directory;
    std::string path = directory.path + "/srun";
    std::ofstream(path) << no_srun_script("it's $(touch x) `y`\\n");

    FILE *shell = popen(("sh " + path + " -n4 hostname 2>&1").c_str(), "r");
    REQUIRE(shell);
    char line[256] = "";
    REQUIRE(fgets(line, sizeof line, shell));
    int status = pclose(shell);

    CHECK(std::string(line) ==
          "srun: error: this job has no srun: it's $(touch x) `y`\\n\n");
    CHECK(WEXITSTATUS(status) == 1);
}

TEST_CASE("with srun a worker has it and the key; the addresses are beside the "
          "script")
{
    Json first = body_on(0, "slurmk8s-srun-x");
    Json worker = body_on(1, "slurmk8s-srun-x");

    CHECK(worker.text("spec/containers/0/command/0") == "/slurmk8s/bin/srun");
    CHECK(worker.text("spec/containers/0/command/1") == "--worker");
    CHECK(secret_files(worker) == "step.key>step.key ");
    CHECK(worker.integer("spec/volumes/0/secret/items/0/mode") == 0444);
    CHECK(secret_files(first) == "run>run script>script step.key>step.key ");
    CHECK(mounts_of(worker) ==
          "slurmk8s-srun=/slurmk8s/bin slurmk8s-script=/slurmk8s ");
    CHECK(worker.items("spec/volumes").size() == 2);
    CHECK(mounts_of(first).contains("slurmk8s-hosts=/slurmk8s/hosts "));
    CHECK(first.text("spec/containers/0/command/1") == "/slurmk8s/run");
    CHECK(worker.text("spec/volumes/1/configMap/name") == "slurmk8s-srun-x");
    CHECK(first.text("spec/volumes/2/downwardAPI/items/0/fieldRef/fieldPath") ==
          "metadata.annotations['slurmk8s/sbatch-hosts']");
    bool says_cpus = false;
    for (const Json &one : worker.items("spec/containers/0/env"))
        says_cpus |= one.text("name") == "SLURM_CPUS_ON_NODE" &&
                     one.text("value") == "2";
    CHECK(says_cpus);
}

TEST_CASE(
    "without srun a worker waits by its shell, and the script's Pod says why")
{
    Json first = body_on(0, "");
    Json worker = body_on(1, "");

    CHECK(worker.text("spec/containers/0/command/0") == "/bin/sh");
    CHECK(worker.items("spec/volumes").empty());
    CHECK(secret_files(first) == "run>run script>script no-srun>bin/srun ");
    CHECK_FALSE(first.dump().contains("configMap"));
}

TEST_CASE("the Pod of one node has srun, or what says why, and no more")
{
    Json with = body_of({"kn1"}, 0, "slurmk8s-srun-x");
    Json without = body_of({"kn1"}, 0, "");

    CHECK(secret_files(with) == "run>run script>script ");
    CHECK(mounts_of(with) == "slurmk8s-script=/slurmk8s "
                             "slurmk8s-pipes=/slurmk8s-pipes(rw) "
                             "slurmk8s-srun=/slurmk8s/bin ");
    CHECK(with.items("spec/volumes").size() == 3);
    CHECK(with.text("spec/volumes/1/configMap/name") == "slurmk8s-srun-x");
    CHECK(with.text("spec/volumes/1/configMap/items/0/path") == "srun");
    for (const char *volume : {"0/secret", "1/configMap"})
        CHECK(with.integer("spec/volumes/" + std::string(volume) +
                           "/defaultMode") == 0555);
    CHECK(
        with.at("metadata/annotations").member("slurmk8s/sbatch-srun").text() ==
        "slurmk8s-srun-x");
    CHECK(with.text("spec/hostname").empty());
    CHECK(secret_files(without) == "run>run script>script no-srun>bin/srun ");
    CHECK_FALSE(without.dump().contains("slurmk8s-srun"));
    CHECK_FALSE(without.at("metadata/annotations")
                    .member("slurmk8s/sbatch-srun")
                    .present());
}

TEST_CASE("the Pods of a job resolve by the names of their nodes, as far as "
          "these are names")
{
    Json worker = body_on(1, "");

    CHECK(worker.text("spec/hostname") == "kn2");
    CHECK(worker.text("spec/subdomain") == "job-7-01234567");
    CHECK(worker.text("spec/dnsConfig/searches/0") ==
          "job-7-01234567.slurm-jobs.svc.cluster.local");
    for (const char *name : {"kn_2", "KN2", "kn2.example.org", "-kn2", "kn2-"})
        CHECK(body_on(1, "", name).text("spec/hostname").empty());
}

TEST_CASE("the Secret of several nodes has the key, and words in place of srun")
{
    Json secret = *Json::parse(
        batch_secret_body(first_pod(), "run", "script", {"abc", "words"}));
    Json plain = *Json::parse(batch_secret_body(first_pod(), "run", "script"));

    CHECK(secret.at("data").member("step.key").text() == "YWJj");
    CHECK(secret.at("data").member("no-srun").text() == "d29yZHM=");
    Json one = *Json::parse(
        batch_secret_body(first_pod(), "run", "script", {"", "words"}));
    CHECK(one.at("data").member("no-srun").text() == "d29yZHM=");
    CHECK_FALSE(one.at("data").member("step.key").present());
    CHECK_FALSE(plain.at("data").member("step.key").present());
    CHECK_FALSE(plain.at("data").member("no-srun").present());
}
