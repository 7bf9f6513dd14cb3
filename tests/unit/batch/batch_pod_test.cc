// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/pod.h"
#include "agent/batch/user_groups.h"
#include "agent/objects/gang_key.h"

#include "common/base/json.h"
#include "common/contract/names.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;

namespace {

const std::string file_name = "0123456789abcdef0123456789abcdef";

BatchJob batch_job()
{
    BatchJob batch;
    batch.job.ref = {7, Sluid{4711}};
    batch.job.tag.script = file_name;
    batch.job.state = JobState::configuring;
    batch.job.nodes = {"kn1"};
    batch.job.cpus = 2;
    batch.job.memory_per_cpu = MebiBytes{100};
    batch.user_id = 1001;
    batch.group_id = 1002;
    batch.name = "my job";
    batch.partition = "kwok";
    batch.account = "physics";
    batch.reservation = "night";
    batch.time_limit = 2880;
    batch.hostlist = "kn1";
    batch.ends = std::chrono::sys_seconds(std::chrono::seconds(1234));
    return batch;
}

BatchMark mark()
{
    return {{7, Sluid{4711}}, file_name};
}

Conf conf()
{
    Conf conf;
    conf.batch_namespace = "slurm-jobs";
    return conf;
}

Json body(const BatchScript &script = {.image = "busybox"},
          const Conf &settings = conf())
{
    auto text = batch_pod_body(batch_job(), script,
                               {"alice", "staff", {50, 60}}, mark(), settings);
    REQUIRE(text.has_value());
    return *Json::parse(*text);
}

Conf conf_with(std::string_view pod)
{
    Conf settings = conf();
    settings.batch_template = "/etc/slurm/pod.json";
    auto base = parse_batch_template(pod);
    REQUIRE(base.has_value());
    settings.batch_pod = *base;
    return settings;
}

} // namespace

TEST_CASE("the template's grace period is lowered to what is allowed")
{
    auto lowered = [](const std::string &spec, int most) {
        auto pod = Json::parse(with_grace_up_to(std::chrono::seconds(most),
                                                R"({"spec": )" + spec + "}"));
        REQUIRE(pod.has_value());
        CHECK(pod->text("spec/nodeName") == "n");
        return pod->integer("spec/terminationGracePeriodSeconds");
    };
    const std::string day =
        R"({"terminationGracePeriodSeconds": 600, "nodeName": "n"})";

    CHECK(lowered(day, 60) == 60);
    CHECK(lowered(day, 600) == 600);
    CHECK(lowered(R"({"nodeName": "n"})", 30) == std::nullopt);
    CHECK(lowered(R"({"nodeName": "n"})", 20) == 20);
}

TEST_CASE("the Pod runs as the job's user and groups, without any privilege")
{
    Json pod = body();

    Json security = pod.at("spec/securityContext");
    CHECK(security.integer("runAsUser") == 1001);
    CHECK(security.integer("runAsGroup") == 1002);
    CHECK(security.flag("runAsNonRoot"));
    REQUIRE(security.items("supplementalGroups").size() == 2);
    CHECK(security.integer("supplementalGroups/0") == 50);
    CHECK(security.text("supplementalGroupsPolicy") == "Strict");
    CHECK(security.text("seccompProfile/type") == "RuntimeDefault");
    Json container = pod.at("spec/containers/0/securityContext");
    CHECK(container.at("allowPrivilegeEscalation").present());
    CHECK_FALSE(container.flag("allowPrivilegeEscalation"));
    CHECK_FALSE(container.flag("privileged"));
    CHECK(container.text("capabilities/drop/0") == "ALL");
    CHECK(container.integer("runAsUser") == 1001);
    CHECK(pod.at("spec/automountServiceAccountToken").present());
    CHECK_FALSE(pod.flag("spec/automountServiceAccountToken"));
    CHECK(pod.text("spec/restartPolicy") == "Never");
    CHECK(pod.text("spec/schedulerName") == "slurm");
    CHECK(pod.text("spec/nodeName").empty());
    CHECK(pod.flag("spec/shareProcessNamespace")); // else TERM does nothing
}

TEST_CASE("the Pod asks for what the job was given, and says whose it is")
{
    Json json = body();
    Pod pod = pod_from(json);

    CHECK(pod.key == ObjectKey{"slurm-jobs", "job-7-01234567"});
    CHECK(batch_mark(pod) == mark());
    CHECK(pod.requests.cpu == MilliCpu{2000});
    CHECK(pod.requests.memory == Bytes{200 << 20});
    CHECK(json.text("spec/containers/0/resources/limits/memory") == "200Mi");
    CHECK(pod.annotation("slurmjob.slinky.slurm.net/user-id") == "1001");
    CHECK(pod.annotation("slurmjob.slinky.slurm.net/group-id") == "1002");
    CHECK(pod.annotation("slurmjob.slinky.slurm.net/account") == "physics");
    CHECK(pod.annotation("slurmjob.slinky.slurm.net/timelimit") == "2880");
    CHECK(pod.annotation("slurmjob.slinky.slurm.net/reservation") == "night");
    CHECK(pod.unfit_reasons.empty());
    CHECK_FALSE(pod.predicate); // else its job would have to ask for that node
    CHECK(pod.label(names::job_id_label).empty()); // the binding's
}

TEST_CASE("a job that wants a signal before its end can read when that is")
{
    Json json = body({.image = "busybox", .signal = 10, .signal_seconds = 60});

    CHECK(pod_from(json).annotation("slurmk8s/sbatch-ends") == "1234");
    CHECK(json.text("spec/volumes/2/downwardAPI/items/0/fieldRef/fieldPath") ==
          "metadata.annotations['slurmk8s/sbatch-ends']");
    CHECK(json.text("spec/containers/0/volumeMounts/0/mountPath") ==
          "/slurmk8s-ends");
    CHECK_FALSE(body().dump().contains("sbatch-ends"));
}

TEST_CASE(
    "where Slurm does not manage memory the Pod has neither request nor limit")
{
    BatchJob batch = batch_job();
    batch.job.memory_per_cpu = {};

    auto text = batch_pod_body(batch, {.image = "busybox"}, {}, mark(), conf());

    REQUIRE(text.has_value());
    Json resources = Json::parse(*text)->at("spec/containers/0/resources");
    CHECK(resources.text("limits/cpu") == "2");
    CHECK_FALSE(resources.at("limits/memory").present());
    CHECK_FALSE(resources.at("requests/memory").present());
}

TEST_CASE("memory that a job was given and did not ask for is in no variable")
{
    BatchJob batch = batch_job();
    batch.job.memory_per_cpu = {};
    batch.job.memory_per_node = MebiBytes{64000};
    auto says = [&](bool asked) {
        batch.says_memory = asked;
        return std::ranges::contains(batch_variables(batch, {}, ""),
                                     "SLURM_MEM_PER_NODE=64000");
    };

    CHECK(says(true));
    CHECK_FALSE(says(false));
}

TEST_CASE("a template adds volumes, tolerations and labels")
{
    Conf settings = conf_with(R"({"kind":"Pod","metadata":{
        "labels":{"site":"a"},"annotations":{"b":"c"}},
        "spec":{"securityContext":{"seccompProfile":{"type":"Localhost"}},
        "tolerations":[{"key":"dedicated","operator":"Exists"}],
        "volumes":[{"name":"home","hostPath":{"path":"/home"}}],
        "containers":[{"name":"c","env":[{"name":"SITE","value":"a"}],
        "volumeMounts":[{"name":"home","mountPath":"/home"}],
        "securityContext":{"readOnlyRootFilesystem":true}}]}})");
    Json pod = body({.image = "busybox"}, settings);

    CHECK(pod.text("metadata/name") == "job-7-01234567");
    CHECK(pod.text("metadata/namespace") == "slurm-jobs");
    CHECK(pod.text("metadata/labels/site") == "a");
    CHECK(pod.text("metadata/annotations/b") == "c");
    CHECK(pod.text("spec/tolerations/0/key") == "dedicated");
    CHECK(pod.integer("spec/securityContext/runAsUser") == 1001);
    CHECK(pod.text("spec/securityContext/seccompProfile/type") == "Localhost");
    REQUIRE(pod.items("spec/volumes").size() == 3);
    CHECK(pod.text("spec/volumes/0/hostPath/path") == "/home");
    CHECK(pod.text("spec/volumes/1/secret/secretName") == "job-7-01234567");
    CHECK(pod.at("spec/volumes/2/emptyDir").present());
    Json container = pod.at("spec/containers/0");
    CHECK(container.text("name") == "job");
    CHECK(container.text("image") == "busybox");
    REQUIRE(container.items("volumeMounts").size() == 3);
    CHECK(container.text("volumeMounts/1/mountPath") == "/slurmk8s");
    CHECK(container.text("volumeMounts/2/mountPath") == "/slurmk8s-pipes");
    CHECK(container.text("env/0/name") == "SITE");
    CHECK(container.flag("securityContext/readOnlyRootFilesystem"));
    CHECK(container.integer("securityContext/runAsUser") == 1001);
    Predicate tolerates = batch_predicate(settings).value();
    CHECK(tolerates.tolerations().size() == 1);
    CHECK(tolerates == value_of(pod_from(pod).predicate));
}

TEST_CASE("without SbatchTemplate there is no feature of its own")
{
    CHECK_FALSE(batch_predicate(conf()));
}

TEST_CASE("a job gets the volumes that it has chosen")
{
    Conf settings = conf_with(R"({"kind":"Pod","metadata":{"annotations":{
        "slurmk8s/choosable-volumes":"data,scratch"}},"spec":{
        "volumes":[{"name":"home","emptyDir":{}},{"name":"data","emptyDir":{}},
        {"name":"scratch","emptyDir":{}}],"containers":[{"volumeMounts":[
        {"name":"data","mountPath":"/data"},{"name":"home","mountPath":"/home"},
        {"name":"data","mountPath":"/more"},
        {"name":"scratch","mountPath":"/scratch"}]}]}})");
    auto mounts = [&](std::vector<std::string> chosen) {
        std::string text;
        Json pod = body({.image = "a", .volumes = chosen}, settings);
        CHECK(pod.items("spec/volumes").size() == 3 + chosen.size());
        for (const Json &mount : pod.items("spec/containers/0/volumeMounts"))
            text += mount.text("mountPath") + " ";
        CHECK_FALSE(pod.at("metadata/annotations")
                        .member("slurmk8s/choosable-volumes")
                        .present());
        return text;
    };

    CHECK(mounts({}) == "/home /slurmk8s /slurmk8s-pipes ");
    CHECK(mounts({"data"}) == "/data /home /more /slurmk8s /slurmk8s-pipes ");
    CHECK(mounts({"scratch", "data"}) ==
          "/data /home /more /scratch /slurmk8s /slurmk8s-pipes ");
    for (const char *name : {"home", "other", ""}) {
        auto text = batch_pod_body(batch_job(), {.volumes = {name}}, {}, mark(),
                                   settings);
        REQUIRE_FALSE(text);
        CHECK(text.error().code == Code::rejected);
    }
}

TEST_CASE("namespace and ServiceAccount are the job's, without a token")
{
    Json pod = body(
        {.image = "a", .service_account = "spark", .name_space = "elsewhere"});

    CHECK(pod.text("metadata/namespace") == "elsewhere");
    CHECK(pod.text("spec/serviceAccountName") == "spark");
    CHECK_FALSE(pod.flag("spec/automountServiceAccountToken"));
    CHECK(pod.at("spec/automountServiceAccountToken").present());
}

TEST_CASE("a user's name, groups and home are the host's, but for root's group")
{
    auto user = look_up_user(1, 1); // daemon, which every system has

    REQUIRE(user.has_value());
    CHECK(user->name == "daemon");
    CHECK(user->group == "daemon");
    CHECK(user->home.starts_with('/'));
    CHECK_FALSE(user->shell.empty());
    CHECK_FALSE(std::ranges::contains(user->groups, 0u));
    CHECK(look_up_user(0x7ffffff0, 1).error().code == Code::busy);
}

TEST_CASE("the Secret goes with its Pod and has the script byte for byte")
{
    Pod pod;
    pod.key = {"slurm-jobs", "job-7-01234567"};
    pod.uid = "u1";

    Json secret = *Json::parse(batch_secret_body(pod, "run it", "\xff"));

    CHECK(secret.text("metadata/name") == "job-7-01234567");
    CHECK(secret.text("metadata/ownerReferences/0/uid") == "u1");
    CHECK(secret.text("data/script") == "/w==");
    CHECK(secret.text("data/run") == "cnVuIGl0");
    CHECK(secret.flag("immutable"));
}

TEST_CASE("SLURM_ variables are those of the allocation")
{
    auto all = batch_variables(batch_job(), {"alice", "staff", {}}, "cluster");

    for (const char *entry :
         {"SLURM_JOB_ID=7", "SLURM_JOBID=7", "SLURM_JOB_NAME=my job",
          "SLURM_JOB_NODELIST=kn1", "SLURM_JOB_NUM_NODES=1",
          "SLURM_CPUS_ON_NODE=2", "SLURM_MEM_PER_CPU=100", "SLURM_JOB_UID=1001",
          "SLURM_JOB_USER=alice", "SLURM_CLUSTER_NAME=cluster",
          "SLURMD_NODENAME=kn1", "SLURM_TASKS_PER_NODE=2",
          "SLURM_JOB_RESERVATION=night", "SLURM_STEP_ID=-5"}) {
        CAPTURE(entry);
        CHECK(std::ranges::contains(all, entry));
    }
    for (const std::string &entry : all)
        CHECK_FALSE(entry.starts_with("SLURM_NTASKS="));
}

TEST_CASE("SLURM_ variables of sharing, licenses and tasks are slurmctld's")
{
    BatchJob batch = batch_job();
    batch.licenses = "matlab:1";
    batch.oversubscribe = "NO";
    batch.exclusive = "USER";
    batch.tres_per_task = "cpu:2";
    batch.tasks_per_node = 3;

    auto all = batch_variables(batch, {}, "");

    for (const std::string &entry :
         {std::string("SLURM_JOB_LICENSES=matlab:1"),
          std::string("SLURM_JOB_OVERSUBSCRIBE=NO"),
          std::string("SLURM_JOB_EXCLUSIVE=USER"),
          std::string("SLURM_TRES_PER_TASK=cpu:2"),
          std::string("SLURM_NTASKS=3"),
          "SLURM_JOB_SLUID=" + batch.job.ref.sluid.str()}) {
        CAPTURE(entry);
        CHECK(std::ranges::contains(all, entry));
    }
}

TEST_CASE("SLURM_TASKS_PER_NODE is what slurmctld reckons")
{
    auto says = [](const BatchJob &batch, const char *entry) {
        return std::ranges::contains(batch_variables(batch, {}, ""), entry);
    };
    BatchJob batch = batch_job();
    batch.job.cpus = 8;
    batch.job.cpus_per_task = 2;
    CHECK(says(batch, "SLURM_TASKS_PER_NODE=4"));
    batch.tasks_per_node = 3;
    CHECK(says(batch, "SLURM_TASKS_PER_NODE=3"));
    batch.says_tasks = true;
    batch.job.tasks = 2;
    CHECK(says(batch, "SLURM_TASKS_PER_NODE=2"));
    CHECK(says(batch, "SLURM_NTASKS=2"));
}

namespace {

// Of three nodes, with tasks of two CPUs.
BatchJob job_of_nodes()
{
    BatchJob batch = batch_job();
    batch.job.nodes = {"kn1", "kn2", "node_3"};
    batch.hostlist = "kn[1-2],node_3";
    batch.job.cpus_on = {4, 4, 2};
    batch.job.cpus = 10;
    batch.job.cpus_per_task = 2;
    return batch;
}

Json body_on(std::uint32_t rank, const std::string &first = {})
{
    BatchJob batch = job_of_nodes();
    auto text =
        batch_pod_body(on_node(batch, rank),
                       {.image = "busybox", .signal = 10, .signal_seconds = 60},
                       {}, mark(), conf(), place_on(batch, rank, first));
    REQUIRE(text.has_value());
    return *Json::parse(*text);
}

} // namespace

TEST_CASE("SLURM_ variables of several nodes are as slurmd has them")
{
    BatchJob batch = job_of_nodes();
    auto says = [&](const char *entry) {
        CAPTURE(entry);
        CHECK(std::ranges::contains(batch_variables(batch, {}, ""), entry));
    };
    for (const char *entry :
         {"SLURM_JOB_NUM_NODES=3", "SLURM_NNODES=3",
          "SLURM_JOB_NODELIST=kn[1-2],node_3", "SLURM_NODELIST=kn[1-2],node_3",
          "SLURM_JOB_CPUS_PER_NODE=4(x2),2", "SLURM_TASKS_PER_NODE=2(x2),1",
          "SLURM_CPUS_ON_NODE=4", "SLURMD_NODENAME=kn1", "SLURM_NODEID=0"})
        says(entry);
    batch.tasks_per_node = 1;
    says("SLURM_TASKS_PER_NODE=1(x3)");
    says("SLURM_NTASKS=3");
    says("SLURM_NPROCS=3");
    batch.says_tasks = true;
    batch.job.tasks = 4;
    says("SLURM_TASKS_PER_NODE=2,1(x2)");
    says("SLURM_NTASKS=4");
    batch.job.tasks = 7; // --overcommit
    says("SLURM_TASKS_PER_NODE=3(x2),1");
    batch.job.tasks = UINT32_MAX; // at once
    says("SLURM_TASKS_PER_NODE=1431655766,1431655765,1431655764");
}

TEST_CASE("each node's Pod has what the job has there, and the worker waits")
{
    Json first = body_on(0);
    Json worker = body_on(2, "u1");

    CHECK(first.text("metadata/name") == "job-7-01234567");
    CHECK(worker.text("metadata/name") == "job-7-01234567-2");
    CHECK(first.text("spec/containers/0/resources/limits/cpu") == "4");
    CHECK(worker.text("spec/containers/0/resources/limits/cpu") == "2");
    CHECK(worker.text("spec/containers/0/resources/limits/memory") == "200Mi");
    CHECK(worker.text("spec/containers/0/image") == "busybox");
    CHECK(worker.text("metadata/ownerReferences/0/uid") == "u1");
    CHECK(first.items("metadata/ownerReferences").empty());
    CHECK(first.text("spec/hostname") == "kn1");
    CHECK(worker.text("spec/hostname").empty()); // no name of a host
    CHECK(worker.items("spec/volumes").empty()); // no script there
    CHECK(worker.items("spec/containers/0/volumeMounts").empty());

    Pod pod = pod_from(worker);
    REQUIRE(pod.gang);
    CHECK(pod.gang->uid == "slurm-jobs/gang/job-7-01234567");
    CHECK(pod.gang->size == 3);
    CHECK(batch_mark(pod) == mark());
    CHECK(batch_place(pod) == BatchPlace{2, 3, "node_3", "u1"});
    CHECK(is_worker(pod));
    CHECK_FALSE(is_worker(pod_from(first)));
    CHECK(ranks_before(pod_from(first), pod));
}

TEST_CASE("the Pod of a job of one node says which, and is alone")
{
    BatchJob batch = job_of_nodes();
    batch.job.nodes = {"kn2"};
    batch.job.cpus_on = {4};
    auto text = batch_pod_body(on_node(batch, 0), {.image = "busybox"}, {},
                               mark(), conf(), place_on(batch, 0));
    REQUIRE(text.has_value());
    Json body = *Json::parse(*text);
    Pod pod = pod_from(body);

    CHECK(batch_place(pod) == BatchPlace{0, 1, "kn2"});
    CHECK_FALSE(is_worker(pod));
    CHECK_FALSE(pod.gang);
    CHECK(body.text("metadata/name") == "job-7-01234567");
    CHECK(body.text("spec/subdomain").empty());
    CHECK(is_made_for(pod, batch.job));
    CHECK(is_made_for(pod, place_on(batch, 0)));
    for (const std::vector<std::string> &others :
         {std::vector<std::string>{"kn1"}, {"kn2", "kn3"}}) {
        batch.job.nodes = others;
        CHECK_FALSE(is_made_for(pod, batch.job));
        CHECK_FALSE(is_made_for(pod, place_on(batch, 0)));
        pod.annotations.erase("slurmk8s/sbatch-node"); // by an earlier agent
        CHECK(is_made_for(pod, batch.job) == (others.size() == 1));
        CHECK(is_made_for(pod, place_on(batch, 0)) == (others.size() == 1));
        pod = pod_from(body);
    }
}

TEST_CASE("a place that is none makes no Pod a worker")
{
    Pod pod;
    pod.annotations["slurmk8s/sbatch"] = encode(mark());
    for (const char *text : {"", "1", "1 2", "1 2 ", "2 2 kn1 u1", "1 2 kn1",
                             "0 2 kn1 u1", "x 2 kn1 u1", "-1 2 kn1 u1"}) {
        CAPTURE(text);
        pod.annotations["slurmk8s/sbatch-node"] = text;
        CHECK_FALSE(batch_place(pod));
    }
    pod.annotations["slurmk8s/sbatch-node"] = "1 2 kn1 u1";
    CHECK(is_worker(pod));
    pod.annotations.erase("slurmk8s/sbatch");
    CHECK_FALSE(batch_place(pod)); // of no batch job
}

TEST_CASE("the Pod of an array's task is found again whatever its JobId is")
{
    BatchMark first{{7, Sluid{4711}}, file_name, ArrayTask{5, 12}};
    BatchMark again{{9, Sluid{4712}}, file_name, ArrayTask{5, 12}};
    BatchMark other{{7, Sluid{4711}}, file_name, ArrayTask{5, 13}};
    Pod pod;

    pod.annotations["slurmk8s/sbatch"] = encode(first);

    CHECK(encode(first).ends_with(file_name + " 5_12"));
    CHECK(batch_mark(pod) == first);
    CHECK(batch_pod_name(first) == "job-5-12-01234567");
    CHECK(batch_pod_name(first) == batch_pod_name(again));
    CHECK(is_same_task(first, again));
    CHECK_FALSE(is_same_task(first, other));
    CHECK_FALSE(is_same_task(mark(), mark())); // of no array
}

TEST_CASE("a mark that is none makes no Pod a batch job's")
{
    Pod pod;
    for (const char *text :
         {"", "7", "7 s0000000000001", "x s0000000000001 0123",
          "7 s0000000000001 0123456789abcdef0123456789abcdeX",
          "7  0123456789abcdef0123456789abcdef",
          " s0000000000001 0123456789abcdef0123456789abcdef",
          "7 s0000000000001 0123456789abcdef0123456789abcdef ",
          "7 s0000000000001 0123456789abcdef0123456789abcdef 5",
          "7 s0000000000001 0123456789abcdef0123456789abcdef 5_",
          "7 s0000000000001 0123456789abcdef0123456789abcdef 5_1 ",
          "7 s0000000000001 0123456789abcdef0123456789abcdef 5_1_2"}) {
        CAPTURE(text);
        pod.annotations["slurmk8s/sbatch"] = text;
        CHECK_FALSE(batch_mark(pod));
    }
    pod.annotations["slurmk8s/sbatch"] = encode(mark());
    CHECK(batch_mark(pod) == mark());
}
