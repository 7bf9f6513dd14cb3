// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/conf.h"

#include <cstdio>
#include <doctest/doctest.h>
#include <fstream>
#include <functional>
#include <string>
#include <unistd.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

// A file that is gone again after the test.
struct TemporaryFile {
    std::string path;

    explicit TemporaryFile(const std::string &text)
    {
        char name[] = "/tmp/slurmk8s-conf-XXXXXX";
        close(mkstemp(name));
        path = name;
        std::ofstream(path) << text;
    }
    ~TemporaryFile() { std::remove(path.c_str()); }
};

std::string error_of(const std::string &text)
{
    auto conf = parse_conf(text);
    if (conf)
        return {};
    CHECK(conf.error().code == Code::rejected);
    return conf.error().message;
}

} // namespace

TEST_CASE("an empty file gives every default")
{
    for (const char *text : {"", "\n", "# nothing\n", "  \t\r\n\n", "#"}) {
        CAPTURE(text);
        auto conf = parse_conf(text);
        REQUIRE(conf);
        CHECK(*conf == Conf{});
    }
}

TEST_CASE("every key sets its field")
{
    auto conf = parse_conf("KubeApiServer=https://k8s.example:6443/\n"
                           "KubeCaFile=/etc/ca.crt\n"
                           "KubeTokenFile=/run/token\n"
                           "SchedulerName=slurm, slurm-bridge-scheduler\n"
                           "DefaultUser=alice\n"
                           "AllowRoot=YES\n"
                           "MaxNodeSelectionsPerNamespace=8\n"
                           "MaxPendingJobsPerNamespace=0\n"
                           "MaxPadding=40\n"
                           "Partition=pods\n"
                           "NodeAddress=10.0.0.1:6818\n"
                           "FeatureLabels=example.com/zone, tier:class\n"
                           "DeviceGres=a100.example.com:gpu:a100\n"
                           "DeviceCapacity=d/memory:gpumem:1Gi\n"
                           "KubeletDir=/kubelet\n"
                           "NodeLabelsFile=/labels\n"
                           "Socket=/run/x/hook.sock\n"
                           "WebAddress=127.0.0.1:1\n"
                           "ResyncInterval=5\n"
                           "ReasonInterval=1\n"
                           "OrphanGrace=0\n"
                           "BindTimeout=10\n"
                           "MaxGracePeriod=45\n"
                           "FeatureLinger=6\n"
                           "GateTimeout=7\n"
                           "NodeLostTimeout=11\n"
                           "LeaseNamespace=ns\nLeaseName=my-lease.1\n"
                           "SbatchNamespace=jobs\n"
                           "SbatchTemplate=/etc/pod.json\n"
                           "SbatchChooseNamespace=a,b\n"
                           "SbatchChooseServiceAccount=spark\n"
                           "DefaultImage=burst registry.example.com/a:1\n"
                           "DefaultImage = gpu \t cuda:12\n"
                           "Burst=main:burst\nBurst = main:spot\n"
                           "ClusterDomain=k8s.example\n"
                           "WorkerNamespace=slurm, more\n"
                           "WorkerController=east\n"
                           "ConfigHashFile=/etc/slurm/config-hash\n"
                           "MetricsInterval=60\n"
                           "MetricsUsers=yes\n"
                           "MetricsTokenFile=/etc/metrics-token\n"
                           "MaxScriptSize=1024\n"
                           "Workers=64\n"
                           "LogLevel=Debug");

    REQUIRE(conf);
    CHECK(conf->kube_api_server == "https://k8s.example:6443");
    CHECK(conf->kube_ca_file == "/etc/ca.crt");
    CHECK(conf->kube_token_file == "/run/token");
    CHECK(conf->scheduler_names ==
          std::vector<std::string>{"slurm", "slurm-bridge-scheduler"});
    CHECK(conf->default_user == "alice");
    CHECK(conf->allow_root);
    CHECK(conf->max_selections_in_namespace == 8);
    CHECK(conf->max_pending_in_namespace == 0u); // not its default
    CHECK(conf->max_padding == 40);
    CHECK(conf->partition == "pods");
    CHECK(conf->node_address == "10.0.0.1:6818");
    CHECK(conf->device_gres ==
          std::vector<DeviceGres>{{"a100.example.com", "gpu", "a100"}});
    CHECK(conf->capacity_gres ==
          std::vector<CapacityGres>{
              {"d", "memory", "gpumem", *Quantity::parse("1Gi")}});
    CHECK(conf->feature_labels ==
          std::vector<FeatureLabel>{{"example.com/zone", "zone"},
                                    {"tier", "class"}});
    CHECK(conf->kubelet_dir == "/kubelet");
    CHECK(conf->labels_file == "/labels");
    CHECK(conf->socket_path == "/run/x/hook.sock");
    CHECK(conf->web_address == "127.0.0.1:1");
    CHECK(conf->batch_namespace == "jobs");
    CHECK(conf->batch_template == "/etc/pod.json");
    CHECK(conf->batch_namespaces == std::vector<std::string>{"a", "b"});
    CHECK(conf->batch_accounts == std::vector<std::string>{"spark"});
    CHECK(conf->default_images ==
          std::map<std::string, std::string>{
              {"burst", "registry.example.com/a:1"}, {"gpu", "cuda:12"}});
    CHECK(conf->bursts ==
          std::vector<BurstRule>{{"main", "burst"}, {"main", "spot"}});
    CHECK(conf->cluster_domain == "k8s.example");
    CHECK(conf->worker_namespaces == std::vector<std::string>{"slurm", "more"});
    CHECK(conf->worker_controller == "east");
    CHECK(conf->config_hash_file == "/etc/slurm/config-hash");
    CHECK(conf->metrics_interval == seconds(60));
    CHECK(conf->metrics_users);
    CHECK(conf->metrics_token_file == "/etc/metrics-token");
    CHECK(conf->max_script_size == 1024);
    CHECK(conf->lease_namespace == "ns");
    CHECK(conf->lease_name == "my-lease.1");
    CHECK(conf->resync_interval == seconds(5));
    CHECK(conf->reason_interval == seconds(1));
    CHECK(conf->orphan_grace == seconds(0));
    CHECK(conf->bind_timeout == seconds(10));
    CHECK(conf->max_grace_period == seconds(45));
    CHECK(conf->feature_linger == seconds(6));
    CHECK(conf->gate_timeout == seconds(7));
    CHECK(conf->node_lost_timeout == seconds(11));
    CHECK(conf->workers == 64);
    CHECK(conf->log_level == LogLevel::debug);
}

TEST_CASE("blanks, comments, letter case and CRLF do not matter")
{
    for (const char *text :
         {"workers=3", "WORKERS=3\n", "  Workers\t=  3 \t\n", "Workers=3\r\n",
          "Workers=3# three\n", "#Workers=4\nWorkers=3\n",
          "\r\n# x = y\r\nWorkers = 3 # = 4\r\n"}) {
        CAPTURE(text);
        auto conf = parse_conf(text);
        REQUIRE(conf);
        CHECK(conf->workers == 3);
    }
}

TEST_CASE("a partition has one default image")
{
    auto conf = parse_conf("DefaultImage=burst a\nDefaultImage=burst b\n");

    REQUIRE_FALSE(conf);
    CHECK(conf.error().message.contains("line 2: DefaultImage names"));
}

TEST_CASE("a rule for bursting is there once")
{
    auto conf = parse_conf("Burst=a:b\nBurst=b:a\nBurst=a:b\n");

    REQUIRE_FALSE(conf);
    CHECK(conf.error().message == "line 3: Burst has a:b twice");
}

TEST_CASE("a GRES has indexes, or is counted")
{
    for (const char *text :
         {"DeviceGres=c:gpu\nDeviceCapacity=d/memory:gpu\n",
          "DeviceCapacity=d/memory:gpu\nDeviceGres=c:gpu\n"}) {
        CAPTURE(text);
        auto conf = parse_conf(text);

        REQUIRE_FALSE(conf);
        CHECK(conf.error().message.starts_with("line 2: Device"));
        CHECK(conf.error().message.contains("cannot both count"));
    }
    CHECK(
        error_of("DeviceGres=dra.cpu:cpu\nDeviceCapacity=dra.cpu/cpu:cpu\n") ==
        "");
}

TEST_CASE("a bad value is refused with its line and its key")
{
    const char *rows[] = {
        "DeviceCapacity=memory:gpumem",
        "DeviceCapacity=d/memory:gpumem:0",
        "DeviceCapacity=d/memory:shard",
        "KubeApiServer=http://k8s.example",
        "KubeApiServer=https://",
        "KubeApiServer=https:///",
        "KubeApiServer=k8s.example:6443",
        "KubeApiServer=",
        "KubeCaFile=ca.crt",
        "KubeTokenFile=./token",
        "SchedulerName=",
        "MaxNodeSelectionsPerNamespace=0",
        "MaxNodeSelectionsPerNamespace=401",
        "MaxPadding=101",
        "MaxPadding=40%",
        "SchedulerName=,",
        "SchedulerName=a,",
        "SchedulerName=a,,b",
        "SchedulerName=a b",
        "SchedulerName=Slurm",
        "SchedulerName=slurm,slurm",
        "SchedulerName=default-scheduler",
        "SchedulerName=slurm,default-scheduler",
        "SchedulerName=a/b",
        "DefaultUser=",
        "AllowRoot=true",
        "AllowRoot=1",
        "AllowRoot=yes no",
        "Socket=hook.sock",
        "ResyncInterval=4",
        "ResyncInterval=86401",
        "ResyncInterval=-5",
        "ResyncInterval=+5",
        "ResyncInterval=5s",
        "ResyncInterval=5.5",
        "ResyncInterval=0x10",
        "ResyncInterval=4294967301", // 2^32 + 5
        "ResyncInterval=99999999999999999999",
        "ReasonInterval=0",
        "ReasonInterval=3601",
        "OrphanGrace=86401",
        "BindTimeout=9",
        "MaxGracePeriod=0",
        "MaxGracePeriod=3601",
        "FeatureLinger=0",
        "GateTimeout=0",
        "NodeLostTimeout=9",
        "LeaseName=a/b",
        "LeaseName=A",
        "LeaseName=.",
        "LeaseNamespace=..",
        "SbatchNamespace=../kube-system",
        "SbatchTemplate=pod.json",
        "SbatchChooseNamespace=A",
        "SbatchChooseServiceAccount=a,,b",
        "DefaultImage=burst",
        "DefaultImage=burst a b",
        "Burst=main",
        "Burst=main:",
        "Burst=:burst",
        "Burst=main:burst:more",
        "Burst=main,other:burst",
        "Burst=main: burst",
        "Burst=main:main",
        "WorkerNamespace=*",
        "WorkerController=slurm/east",
        "ClusterDomain=Cluster.Local",
        "ClusterDomain=cluster.local.",
        "ClusterDomain=",
        "MaxScriptSize=1023",
        "MaxScriptSize=900001",
        "Workers=0",
        "Workers=65",
        "Workers= ",
        "LogLevel=verbose",
        "LogLevel=",
    };
    for (const std::string row : rows) {
        CAPTURE(row);
        std::string error = error_of("# one\n\n" + row + "\nWorkers=2\n");
        CHECK(error.starts_with("line 3: " + row.substr(0, row.find('='))));
    }
    CHECK(error_of("SchedulerName=" + std::string(254, 'a')) != "");
}

TEST_CASE("an agent for workers only needs some, and makes no Pods")
{
    const std::string only = "SchedulePods=no\n";
    CHECK(parse_conf("")->schedule_pods);
    CHECK(error_of(only).contains("WorkerNamespace"));
    auto conf = parse_conf(only + "WorkerNamespace=slurm\n");
    REQUIRE(conf);
    CHECK_FALSE(conf->schedule_pods);
    CHECK(error_of(only + "WorkerNamespace=slurm\nSbatchNamespace=jobs\n")
              .contains("SbatchNamespace"));
    CHECK(error_of("SchedulePods=maybe\n").starts_with("line 1: SchedulePods"));
}

TEST_CASE("what is no known Key=Value is refused with its line")
{
    CHECK(error_of("Workers") == "line 1: \"Workers\" is not Key=Value");
    CHECK(error_of("\n\nNope=1").starts_with("line 3: unknown key \"Nope\""));
    CHECK(error_of("=1").starts_with("line 1: unknown key"));
    CHECK(error_of("Work ers=1").starts_with("line 1: unknown key"));
    CHECK(error_of("[main]") != "");
    CHECK(error_of("\xef\xbb\xbfWorkers=1") != ""); // a byte order mark
}

TEST_CASE("a key that is given twice is refused, whatever its case")
{
    CHECK(error_of("Workers=1\n# x\nworkers=1\n") ==
          "line 3: Workers is given twice");
}

TEST_CASE("hostile configuration files are refused in few words")
{
    const std::string nul(1, '\0');
    const std::string rows[] = {
        std::string(1000000, 'x'),
        std::string(1000000, 'x') + "=1",
        "Workers=" + std::string(1000000, '1'),
        nul,
        "Workers" + nul + "=1",
        "Workers=1" + nul,
        "DefaultUser=alice" + nul + "root",
        "Socket=/run/a" + nul + "b",
        "Partition=a\x1b[31m",
        "DefaultUser=a\x7f",
    };
    for (const std::string &text : rows) {
        CAPTURE(text.substr(0, 50));
        std::string error = error_of(text);
        CHECK(error != "");
        CHECK(error.size() < 300);
    }
}

TEST_CASE("a file of a million lines is read to its last line")
{
    std::string text(1000000, '\n');

    CHECK(parse_conf(text + "Workers=2"));
    CHECK(error_of(text + "Workers=x").starts_with("line 1000001: Workers"));
}

TEST_CASE("a file is named in its errors, and may be empty")
{
    TemporaryFile good("Workers=5\n");
    TemporaryFile bad("\nWorkers=x\n");
    TemporaryFile empty("");

    auto conf = load_conf(good.path);
    REQUIRE(conf);
    CHECK(conf->workers == 5);
    auto error = load_conf(bad.path);
    REQUIRE_FALSE(error);
    CHECK(error.error().message.starts_with(bad.path + ": line 2: Workers"));
    CHECK(load_conf(empty.path));
}

TEST_CASE("a program of another release takes what it knows of a file")
{
    TemporaryFile later("LaterKey=1\nSocket=/run/a.sock\nWorkers=many\n"
                        "GateTimeout=77\n");

    auto [conf, trouble] = load_known_conf(later.path);

    CHECK(conf.socket_path == "/run/a.sock");
    CHECK(conf.gate_timeout == std::chrono::seconds(77));
    CHECK(conf.workers == Conf{}.workers);
    CHECK(trouble.contains("line 1: unknown key \"LaterKey\""));
    CHECK_FALSE(load_known_conf("/nonexistent/k8s.conf").trouble.empty());
}

TEST_CASE("a file that cannot be read is not found")
{
    for (const char *path : {"/nonexistent/k8s.conf", "/", ""}) {
        CAPTURE(path);
        auto conf = load_conf(path);
        REQUIRE_FALSE(conf);
        CHECK(conf.error().code == Code::not_found);
    }
}
