// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_slurm.h"

#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <vector>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

// As doc/admin/configure.md recommends: nothing is found.
SlurmFacts good()
{
    SlurmFacts slurm;
    slurm.version = slurm.built_for = "26.05.5";
    slurm.job_submit_plugins = {"lua", "k8s"};
    slurm.prep_plugins = {"script", "k8s"};
    slurm.max_nodes = 100;
    slurm.min_job_age = 300s;
    slurm.select_type = "select/cons_tres";
    slurm.counts_memory = true;
    slurm.memory_default = true;
    slurm.enforces_part_limits = true;
    slurm.scheduler_type = "sched/backfill";
    slurm.scheduler_parameters = {{"batch_sched_delay", "0"},
                                  {"bf_interval", "5"},
                                  {"bf_continue", ""},
                                  {"default_queue_depth", "1000"},
                                  {"partition_job_depth", "200"}};
    slurm.accounting = true;
    slurm.enforces_limits = true;
    slurm.stores_comment = true;
    SlurmNode node;
    node.name = "n1";
    node.external = true;
    node.features = "k8s,part";
    slurm.nodes = {node};
    PartitionFacts partition;
    partition.name = "k8s";
    partition.nodes = {"n1"};
    slurm.partitions = {partition};
    return slurm;
}

using Check = std::function<Findings(const SlurmFacts &)>;

Findings table_of(const SlurmFacts &slurm)
{
    return check_node_table(slurm, 0);
}

Findings partitions_of(const SlurmFacts &slurm)
{
    return check_partitions(slurm, {}, {});
}

struct Case {
    const char *what;
    std::function<void(SlurmFacts &)> spoil;
    Check check;
    Severity severity;
    const char *change;
};

const std::vector<Case> cases = {
    {"too old", [](auto &s) { s.version = s.built_for = "25.11.9"; },
     check_version, Severity::error, "upgrade Slurm"},
    {"another micro version", [](auto &s) { s.built_for = "26.05.4"; },
     check_version, Severity::error,
     "build slurm-k8s-bridge again, with the headers of Slurm 26.05.5"},
    {"a version that is none", [](auto &s) { s.version = "latest"; },
     check_version, Severity::warning, ""},
    {"no job_submit plugin", [](auto &s) { s.job_submit_plugins = {"lua"}; },
     check_plugins, Severity::error, "JobSubmitPlugins=lua,k8s"},
    {"it is not the last",
     [](auto &s) { s.job_submit_plugins = {"k8s", "lua"}; }, check_plugins,
     Severity::warning, "JobSubmitPlugins=lua,k8s"},
    {"no prep plugin", [](auto &s) { s.prep_plugins = {"script"}; },
     check_plugins, Severity::error, "PrEpPlugins=prep/script,prep/k8s"},
    {"prep/k8s alone", [](auto &s) { s.prep_plugins = {"k8s"}; }, check_plugins,
     Severity::warning, "PrEpPlugins=prep/script,prep/k8s"},
    {"prep/k8s alone, and a Prolog",
     [](auto &s) {
         s.prep_plugins = {"k8s"};
         s.prolog_scripts = true;
     },
     check_plugins, Severity::error, "PrEpPlugins=prep/script,prep/k8s"},
    {"no MaxNodeCount", [](auto &s) { s.max_nodes.reset(); }, table_of,
     Severity::error, "MaxNodeCount=1024"},
    {"a small MaxNodeCount", [](auto &s) { s.max_nodes = 0; }, table_of,
     Severity::error, "MaxNodeCount=1024"},
    {"a small MinJobAge", [](auto &s) { s.min_job_age = 299s; }, check_job_age,
     Severity::error, "MinJobAge=300"},
    {"select/linear", [](auto &s) { s.select_type = "select/linear"; },
     check_select, Severity::error, "SelectType=select/cons_tres"},
    {"memory not counted", [](auto &s) { s.counts_memory = false; },
     check_select, Severity::error, "SelectTypeParameters=CR_Core_Memory"},
    {"no backfill", [](auto &s) { s.scheduler_type = "sched/builtin"; },
     check_scheduler, Severity::warning, "SchedulerType=sched/backfill"},
    {"backfill looks seldom",
     [](auto &s) { s.scheduler_parameters.erase("bf_interval"); },
     check_scheduler, Severity::warning,
     "SchedulerParameters=batch_sched_delay=0,bf_continue,bf_interval=5,"
     "default_queue_depth=1000,partition_job_depth=200"},
    {"a short queue",
     [](auto &s) { s.scheduler_parameters.erase("default_queue_depth"); },
     check_scheduler, Severity::warning,
     "SchedulerParameters=batch_sched_delay=0,bf_continue,bf_interval=5,"
     "default_queue_depth=1000,partition_job_depth=200"},
    {"a partition hides others",
     [](auto &s) { s.scheduler_parameters["partition_job_depth"] = "0"; },
     check_scheduler, Severity::warning,
     "SchedulerParameters=batch_sched_delay=0,bf_continue,bf_interval=5,"
     "default_queue_depth=1000,partition_job_depth=200"},
    {"a delay",
     [](auto &s) { s.scheduler_parameters["batch_sched_delay"] = "3"; },
     check_scheduler, Severity::warning,
     "SchedulerParameters=batch_sched_delay=0,bf_continue,bf_interval=5,"
     "default_queue_depth=1000,partition_job_depth=200"},
    {"EnforcePartLimits=NO", [](auto &s) { s.enforces_part_limits = false; },
     check_limits, Severity::warning, "EnforcePartLimits=ALL"},
    {"CompleteWait", [](auto &s) { s.complete_wait = 8s; }, check_limits,
     Severity::warning, "CompleteWait=0"},
    {"GANG", [](auto &s) { s.gang = true; }, check_limits, Severity::error,
     "PreemptMode=CANCEL"},
    {"power saving", [](auto &s) { s.powers_down = true; }, check_power_saving,
     Severity::error, "SuspendExcParts=the partitions of Kubernetes' nodes"},
    {"power saving that spares some",
     [](auto &s) { s.powers_down = s.spares_some = true; }, check_power_saving,
     Severity::note, ""},
    {"no slurmdbd", [](auto &s) { s.accounting = false; }, check_accounting,
     Severity::warning, "AccountingStorageType=accounting_storage/slurmdbd"},
    {"no limits", [](auto &s) { s.enforces_limits = false; }, check_accounting,
     Severity::warning, "AccountingStorageEnforce=associations,limits,qos"},
    {"no comments", [](auto &s) { s.stores_comment = false; }, check_accounting,
     Severity::note, "AccountingStoreFlags=job_comment"},
    {"partition down", [](auto &s) { s.partitions[0].up = false; },
     partitions_of, Severity::warning, "PartitionName=k8s … State=UP"},
    {"partition suspends", [](auto &s) { s.partitions[0].suspends = true; },
     partitions_of, Severity::error, "PartitionName=k8s … PreemptMode=CANCEL"},
    {"OverSubscribe=FORCE",
     [](auto &s) { s.partitions[0].forces_sharing = true; }, partitions_of,
     Severity::warning, "PartitionName=k8s … OverSubscribe=NO"},
    {"OverSubscribe=EXCLUSIVE",
     [](auto &s) { s.partitions[0].exclusive = true; }, partitions_of,
     Severity::warning, "PartitionName=k8s … OverSubscribe=NO"},
    {"GraceTime", [](auto &s) { s.partitions[0].grace_time = 60s; },
     partitions_of, Severity::warning, "PartitionName=k8s … GraceTime=0"},
    {"a hybrid node without a memory default",
     [](auto &s) {
         s.nodes[0].external = false;
         s.memory_default = false;
     },
     partitions_of, Severity::warning, "PartitionName=k8s … DefMemPerCPU=2000"},
};

} // namespace

TEST_CASE("the settings that the documentation recommends pass")
{
    SlurmFacts slurm = good();

    for (const Case &one : cases) {
        CAPTURE(one.what);
        CHECK(one.check(slurm).empty());
    }
}

TEST_CASE("each setting that bites is found, with the line to change")
{
    for (const Case &one : cases) {
        CAPTURE(one.what);
        SlurmFacts slurm = good();
        one.spoil(slurm);

        Findings found = one.check(slurm);

        REQUIRE(found.size() == 1);
        CHECK(found[0].severity == one.severity);
        CHECK(found[0].change == one.change);
        CHECK_FALSE(found[0].says.empty());
        CHECK_FALSE(found[0].about.empty());
    }
}

TEST_CASE("Nodes that Slurm does not have yet count against MaxNodeCount")
{
    SlurmFacts slurm = good();

    CHECK(check_node_table(slurm, 99).empty());
    CHECK(check_node_table(slurm, 100).size() == 1);
    slurm.max_nodes = 2000;
    CHECK(check_node_table(slurm, 2000)[0].change == "MaxNodeCount=4002");
}

TEST_CASE("a job record that is kept for ever is old enough")
{
    SlurmFacts slurm = good();
    slurm.min_job_age = 0s;

    CHECK(check_job_age(slurm).empty());
}

TEST_CASE("versions are compared as numbers, whatever follows them")
{
    SlurmFacts slurm = good();
    slurm.version = slurm.built_for = "26.05.0";
    CHECK(check_version(slurm).empty());
    slurm = good();
    slurm.version = "26.05.5-1";
    CHECK(check_version(slurm).empty());
    slurm.version = slurm.built_for = "26.11.0-0rc1";
    CHECK(check_version(slurm).empty());
    for (const char *text : {"", "26", "26.5", "26.05.", "x.05.5"}) {
        slurm.version = text;
        CHECK(check_version(slurm)[0].severity == Severity::warning);
    }
}

TEST_CASE("a partition that is named for Pods must be there and have nodes")
{
    SlurmFacts slurm = good();
    Conf conf;
    conf.partition = "nowhere";

    Findings found = check_partitions(slurm, conf, {"k8s", "other"});
    REQUIRE(found.size() == 2);
    CHECK(found[0].severity == Severity::error); // k8s.conf wants it
    CHECK(found[0].about == "partition nowhere");
    CHECK(found[1].severity == Severity::warning);
    CHECK(found[1].about == "partition other");

    slurm.partitions.push_back({});
    slurm.partitions.back().name = "other";
    found = check_partitions(slurm, {}, {"other"});
    REQUIRE(found.size() == 1);
    CHECK(found[0].says.contains("has no node"));
}

TEST_CASE("partitions without our nodes are nobody's business here")
{
    SlurmFacts slurm = good();
    PartitionFacts other;
    other.name = "other";
    other.nodes = {"native"};
    other.suspends = other.forces_sharing = true;
    slurm.partitions.push_back(other);

    CHECK(check_partitions(slurm, {}, {}).empty());
}

TEST_CASE("each GRES that devices become has to be among GresTypes")
{
    SlurmFacts slurm = good();
    slurm.gres_types = {"gpu", "mps"};
    Conf conf;
    CHECK(check_gres_types(slurm, conf).empty());
    conf.device_gres = {{"dra.cpu", "cpu", ""}};
    CHECK(check_gres_types(slurm, conf).empty());
    conf.device_gres = {
        {"a", "gpu", "a"}, {"b", "nic", "b"}, {"c", "nic", "c"}};

    CHECK(check_gres_types(slurm, conf).at(0).change ==
          "GresTypes=gpu,mps,nic");
    slurm.gres_types = {"nic", "gpu"};
    CHECK(check_gres_types(slurm, conf).empty());
    conf.capacity_gres = {{"d", "memory", "gpumem", {}}};
    CHECK(check_gres_types(slurm, conf).at(0).change ==
          "GresTypes=nic,gpu,gpumem");
}

TEST_CASE("job arrays as Pods need a plugin, where batch jobs run as Pods")
{
    SlurmFacts slurm = good();
    Conf conf;
    CHECK(check_pod_arrays(slurm, conf).empty());
    conf.batch_namespace = "slurm-jobs";

    Findings found = check_pod_arrays(slurm, conf);

    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == Severity::warning);
    CHECK(found[0].change == "BurstBufferType=burst_buffer/k8s");
    slurm.burst_buffer = "lua"; // Slurm takes one
    CHECK(check_pod_arrays(slurm, conf).at(0).severity == Severity::note);
    CHECK(check_pod_arrays(slurm, conf)[0].says.contains("is lua"));
    slurm.burst_buffer = "k8s";
    CHECK(check_pod_arrays(slurm, conf).empty());
}

TEST_CASE("a value that a site has raised is never lowered")
{
    for (unsigned max_nodes : {1u, 1000u, 5000u, 65000u}) {
        SlurmFacts slurm = good();
        slurm.max_nodes = max_nodes;
        slurm.nodes.resize(max_nodes, slurm.nodes[0]);
        CHECK(check_node_table(slurm, 0).empty());
        for (const Finding &one : check_node_table(slurm, 1))
            CHECK(std::stoul(one.change.substr(one.change.find('=') + 1)) >
                  max_nodes);
    }
    SlurmFacts slurm = good();
    for (auto age : {0s, 300s, 86400s}) {
        slurm.min_job_age = age;
        CHECK(check_job_age(slurm).empty());
    }
}

TEST_CASE("words that a site has in a list are kept")
{
    SlurmFacts slurm = good();
    slurm.stores_comment = false;
    slurm.store_flags = {{"job_script", ""}};
    CHECK(check_accounting(slurm).at(0).change ==
          "AccountingStoreFlags=job_comment,job_script");
    slurm.enforces_limits = false;
    slurm.enforced = {{"safe", ""}, {"associations", ""}};
    CHECK(check_accounting(slurm).at(0).change ==
          "AccountingStorageEnforce=associations,limits,qos,safe");
}

TEST_CASE("what several findings want of SchedulerParameters is one line")
{
    SlurmFacts slurm = good();
    slurm.scheduler_parameters = {{"bf_continue", ""}, {"bf_interval", "30"}};

    Findings found = check_scheduler(slurm);
    merge_changes(found);

    REQUIRE(found.size() == 4);
    for (const Finding &one : found)
        CHECK(one.change ==
              "SchedulerParameters=batch_sched_delay=0,bf_continue,"
              "bf_interval=5,default_queue_depth=1000,"
              "partition_job_depth=200");
}
