// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch_pod.h"
#include "agent/user_groups.h"

#include "common/json.h"
#include "common/names.h"
#include "tests/unit/temporary_directory.h"

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <iterator>

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

Json body(std::string_view base = default_batch_template())
{
    auto text = batch_pod_body(batch_job(), {.image = "busybox"},
                               {"alice", "staff", {50, 60}}, mark(), conf(),
                               base);
    REQUIRE(text.has_value());
    return *Json::parse(*text);
}

// What the launcher comes to in a real shell, with script as its script.
std::string run_launcher(const BatchScript &batch,
                         const std::vector<std::string> &variables)
{
    TemporaryDirectory directory;
    std::string launcher = batch_launcher(batch, variables);
    std::string mount = "/slurmk8s/script";
    launcher.replace(launcher.rfind(mount), mount.size(),
                     "sh " + directory.path + "/script");
    std::ofstream(directory.path + "/script") << batch.script;
    std::ofstream(directory.path + "/run") << launcher;
    std::string command = "sh " + directory.path + "/run > " + directory.path +
                          "/out 2>&1; echo \"exit $?\" >> " + directory.path +
                          "/out";
    REQUIRE(std::system(command.c_str()) == 0);
    std::ifstream out(directory.path + "/out");
    return {std::istreambuf_iterator<char>(out), {}};
}

} // namespace

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
    CHECK(pod.objections.empty());
    CHECK_FALSE(pod.predicate); // else its job would have to ask for that node
    CHECK(pod.label(names::job_id_label).empty()); // the binding's
}

TEST_CASE("where Slurm does not manage memory the Pod has neither request nor limit")
{
    BatchJob batch = batch_job();
    batch.job.memory_per_cpu = {};

    auto text = batch_pod_body(batch, {.image = "busybox"}, {}, mark(), conf(),
                               default_batch_template());

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

TEST_CASE("a template adds volumes, and takes away nothing that protects")
{
    Json pod = body(R"({"kind":"Pod","metadata":{"name":"x","namespace":"y",
        "labels":{"site":"a"}},
        "spec":{"restartPolicy":"Always","nodeName":"n","schedulerName":"z",
        "shareProcessNamespace":false,
        "securityContext":{"runAsUser":0,"runAsNonRoot":false,"fsGroup":5,
        "supplementalGroups":[0]},
        "volumes":[{"name":"home"}],
        "containers":[{"name":"c","image":"evil","command":["x"],
        "volumeMounts":[{"name":"home","mountPath":"/home"}],
        "securityContext":{"privileged":true,"runAsUser":0,
        "readOnlyRootFilesystem":true,
        "capabilities":{"add":["SYS_ADMIN"]}}}]}})");

    CHECK(pod.text("metadata/name") == "job-7-01234567");
    CHECK(pod.text("metadata/namespace") == "slurm-jobs");
    CHECK(pod.text("metadata/labels/site") == "a");
    CHECK(pod.text("spec/restartPolicy") == "Never");
    CHECK(pod.text("spec/schedulerName") == "slurm");
    CHECK(pod.flag("spec/shareProcessNamespace"));
    CHECK(pod.integer("spec/securityContext/runAsUser") == 1001);
    CHECK(pod.flag("spec/securityContext/runAsNonRoot"));
    CHECK(pod.integer("spec/securityContext/fsGroup") == 5);
    CHECK(pod.integer("spec/securityContext/supplementalGroups/0") == 50);
    REQUIRE(pod.items("spec/volumes").size() == 2);
    CHECK(pod.text("spec/volumes/0/name") == "home");
    CHECK(pod.text("spec/volumes/1/secret/secretName") == "job-7-01234567");
    Json container = pod.at("spec/containers/0");
    CHECK(container.text("image") == "busybox");
    CHECK(container.text("command/0") == "/bin/sh");
    REQUIRE(container.items("volumeMounts").size() == 2);
    CHECK(container.text("volumeMounts/1/mountPath") == "/slurmk8s");
    CHECK_FALSE(container.flag("securityContext/privileged"));
    CHECK(container.integer("securityContext/runAsUser") == 1001);
    CHECK(container.flag("securityContext/readOnlyRootFilesystem"));
    CHECK(container.items("securityContext/capabilities/add").empty());
}

TEST_CASE("a template that is no Pod of one container is refused")
{
    for (std::string_view base :
         {"", "[]", "{}", R"({"kind":"Pod"})", R"({"kind":"Pod","spec":{}})",
          R"({"kind":"Pod","spec":{"containers":[]}})",
          R"({"kind":"Pod","spec":{"containers":[{},{}]}})",
          R"({"kind":"Job","spec":{"containers":[{}]}})",
          R"({"kind":"Pod","spec":{"containers":[{}],"initContainers":[{}]}})",
          R"({"kind":"Pod","spec":{"\u0063ontainers":1,"containers":[{}]}})"}) {
        CAPTURE(base);
        auto text = batch_pod_body(batch_job(), {.image = "a"}, {}, mark(),
                                   conf(), base);
        REQUIRE_FALSE(text);
        CHECK(text.error().code == Code::rejected);
    }
}

TEST_CASE("the launcher gives the script its environment, whatever is in it")
{
    BatchScript batch;
    batch.work_dir = "/tmp";
    batch.environment = {"A=it's \"$HOME\" `id` \\",
                         "B=two\nlines",
                         "PATH=/nowhere",
                         "LD_PRELOAD=/evil.so",
                         "-u=x",
                         "no value",
                         "SLURM_JOB_ID=1",
                         "SLURM_SPANK_K8S_IMAGE=x",
                         "SLURM_UMASK=0027"};
    batch.arguments = {"one arg", "'", ""};
    batch.script = "printf '%s|' \"$A\" \"$B\" \"$SLURM_JOB_ID\" "
                   "\"$SLURM_SPANK_K8S_IMAGE\" \"$#\" \"$1\" \"$2\" "
                   "\"$(umask)\" \"$PWD\" \"$LD_PRELOAD\"\nexit 7\n";

    CHECK(run_launcher(batch, {"SLURM_JOB_ID=4711"}) ==
          "it's \"$HOME\" `id` \\|two\nlines|4711||3|one arg|'|0027|/tmp||"
          "exit 7\n");
}

TEST_CASE("a directory that the container does not have is said, and /tmp taken")
{
    BatchScript batch;
    batch.work_dir = "/no/such 'dir'";
    batch.script = "pwd\n";

    std::string said = run_launcher(batch, {});

    CHECK(said.contains("couldn't chdir to `/no/such 'dir''"));
    CHECK(said.ends_with("/tmp\nexit 0\n"));
}

TEST_CASE("who submits without an environment has what a login sets at least")
{
    BatchScript batch;
    batch.environment = {"SLURM_GET_USER_ENV=1", "SHELL=/bin/zsh"};

    add_login(batch, {"alice", "staff", {}, "/home/alice", "/bin/sh"});

    CHECK(batch.environment ==
          std::vector<std::string>{"SHELL=/bin/zsh", "HOME=/home/alice",
                                   "USER=alice", "LOGNAME=alice"});
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
    CHECK(look_up_user(0x7ffffff0, 1).error().code == Code::rejected);
}

TEST_CASE("a umask that is none is left out")
{
    for (const char *mask : {"SLURM_UMASK=", "SLURM_UMASK=9",
                             "SLURM_UMASK=0; id", "SLURM_UMASK=00222"}) {
        BatchScript batch;
        batch.environment = {mask};
        CHECK_FALSE(batch_launcher(batch, {}).contains("\numask"));
    }
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
          "SLURM_CPUS_ON_NODE=2", "SLURM_MEM_PER_CPU=100",
          "SLURM_JOB_UID=1001", "SLURM_JOB_USER=alice",
          "SLURM_CLUSTER_NAME=cluster", "SLURMD_NODENAME=kn1",
          "SLURM_TASKS_PER_NODE=2", "SLURM_JOB_RESERVATION=night"}) {
        CAPTURE(entry);
        CHECK(std::ranges::contains(all, entry));
    }
    for (const std::string &entry : all)
        CHECK_FALSE(entry.starts_with("SLURM_NTASKS="));
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

TEST_CASE("a mark that is none makes no Pod a batch job's")
{
    Pod pod;
    for (const char *text :
         {"", "7", "7 s0000000000001", "x s0000000000001 0123",
          "7 s0000000000001 0123456789abcdef0123456789abcdeX",
          "7  0123456789abcdef0123456789abcdef",
          " s0000000000001 0123456789abcdef0123456789abcdef"}) {
        CAPTURE(text);
        pod.annotations["slurmk8s/sbatch"] = text;
        CHECK_FALSE(batch_mark(pod));
    }
    pod.annotations["slurmk8s/sbatch"] = encode(mark());
    CHECK(batch_mark(pod) == mark());
}
