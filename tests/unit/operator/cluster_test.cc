// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/accounting.h"
#include "operator/decide/cluster.h"
#include "operator/decide/json_merge.h"
#include "tests/unit/operator/make_cluster.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

Worker pod_of(const char *name)
{
    Worker made;
    made.meta.key = {"ns", name};
    made.meta.uid = "uid";
    made.meta.version = "9";
    made.meta.labels = {{names::cluster_label, "slurm"}};
    return made;
}

} // namespace

TEST_CASE("a slurmctld: the finalizer first, then all of it, then nothing")
{
    Known known = with(inside());
    CHECK(whats(decided(known)) == "set the finalizer of Controller slurm");

    known = with(inside({}, held));
    add(known, node_set(2));
    auto steps = decided(known);
    std::string trial = steps[5].path.substr(steps[5].path.rfind('/') + 1);
    trial = trial.substr(0, trial.find('?'));
    CHECK(whats(steps) ==
          "apply ServiceAccount slurm-controller; apply Role slurm-controller; "
          "apply RoleBinding slurm-controller; apply Service "
          "slurm-controller; apply Service slurm-controller-internal; apply "
          "ConfigMap " +
              trial + "; create Pod " + trial +
              "; apply Service slurm-workers-slurm; apply "
              "PodDisruptionBudget slurm-workers-pdb-slurm");
    CHECK(trial.starts_with("slurm-controller-trial-"));
    make(known, steps);
    CHECK(whats(decided(known)) == "");

    known.daemons.begin()->second.ready = true;
    steps = decided(known);
    CHECK(whats(steps) == "apply ConfigMap slurm-config; apply StatefulSet "
                          "slurm-controller");
    make(known, steps);
    steps = decided(known);
    CHECK(whats(steps) ==
          "delete Pod " + trial + "; delete ConfigMap " + trial);
    make(known, steps);
    CHECK(whats(decided(known)) == "");

    known.made.erase({"Role", {"ns", "slurm-controller"}});
    CHECK(whats(decided(known)) == "apply Role slurm-controller");
}

TEST_CASE("what somebody changes is put right")
{
    Known known = with(inside({}, held));
    settle(known);
    known.made[{"ConfigMap", {"ns", "slurm-config"}}].data["slurm.conf"] = "X";
    auto steps = decided(known);
    CHECK(whats(steps) == "apply ConfigMap slurm-config");
    CHECK(steps[0].told->reason == "Restored");
    make(known, steps);
    known.made[{"StatefulSet", {"ns", "slurm-controller"}}].replicas = 0;
    CHECK(whats(decided(known)) == "apply StatefulSet slurm-controller");
    make(known, decided(known));
    known.made.erase({"Service", {"ns", "slurm-controller"}});
    steps = decided(known);
    CHECK(whats(steps) == "apply Service slurm-controller");
    CHECK(steps[0].told->reason == "Created");
    make(known, steps);
    CHECK(whats(decided(known)) == "");
}

TEST_CASE("changes of conditions are told as Events")
{
    Known known = with(inside(R"(, "extraConf": "Nonsense=1")", held));
    auto events = [&] {
        std::string text;
        for (const Step &step : decided(known))
            for (const Told &told : step.changes)
                text += (told.warning ? "!" : "") + told.reason + " ";
        return text;
    };
    CHECK(events() ==
          "Accepted Served AvailableNot Updated Agent ConfigAppliedNot ");
    make(known, decided(known));
    for (const Step &step : decided(known))
        if (step.is_report)
            known.controllers.begin()->second.conditions =
                controller_from(json(step.body)).conditions;
    known.daemons.begin()->second.ended = true;
    CHECK(events() == "!ConfigValidNot ");
}

TEST_CASE("slurmk8sd alone has a token, and only where its image is known")
{
    Known known = with(inside(R"(, "template": {"spec": {
        "automountServiceAccountToken": true, "serviceAccountName": "mine",
        "nodeName": "n", "tolerations": [{"key": "t"}]}})",
                              held));
    Json pod = body_of(settled(known), "apply StatefulSet slurm-controller")
                   .at("spec/template/spec");
    CHECK_FALSE(pod.flag("automountServiceAccountToken"));
    CHECK(pod.text("serviceAccountName") == "slurm-controller");
    CHECK(pod.text("nodeName") == "");
    CHECK(pod.items("tolerations").size() == 1);
    CHECK(container(pod, "slurmk8sd").text("image") == "agent");
    CHECK(container(pod, "slurmk8sd").dump().contains("agent-token"));
    CHECK_FALSE(container(pod, "slurmctld").dump().contains("agent-token"));

    known.agent_image = "";
    auto steps = settled(known);
    CHECK_FALSE(whats(steps).contains("ServiceAccount"));
    CHECK_FALSE(body_of(steps, "apply ConfigMap slurm-config")
                    .dump()
                    .contains("k8s.conf"));
    CHECK(said(decided(known), "Agent").starts_with("False: Nobody has said"));
    known = with(inside({}, std::string(held) +
                                R"(, "annotations": {"slurmk8s/agent-image":
                                "theirs"})"));
    pod = body_of(settled(known), "apply StatefulSet slurm-controller")
              .at("spec/template/spec");
    CHECK(container(pod, "slurmk8sd").text("image") == "theirs");
}

TEST_CASE("the rights of slurmk8sd are of its namespace, and few")
{
    auto steps = decided(with(inside({}, held)));
    Json role = body_of(steps, "apply Role slurm-controller");
    CHECK(role.at("rules").dump() ==
          R"([{"apiGroups":[""],"resources":["pods"],"verbs":["get","list",)"
          R"("watch"]},{"apiGroups":[""],"resources":["pods/status"],)"
          R"("verbs":["patch"]},{"apiGroups":["slinky.slurm.net"],)"
          R"("resources":["nodesets"],"verbs":["get","list","watch"]},)"
          R"({"apiGroups":["slinky.slurm.net"],)"
          R"("resources":["nodesets/scale"],"verbs":["patch"]},)"
          R"({"apiGroups":["coordination.k8s.io"],)"
          R"("resources":["leases"],"verbs":["get","update"],)"
          R"("resourceNames":["slurmk8sd"]},)"
          R"({"apiGroups":["coordination.k8s.io"],"resources":["leases"],)"
          R"("verbs":["create"]}])");
    Json binding = body_of(steps, "apply RoleBinding slurm-controller");
    CHECK(binding.text("metadata/namespace") == "ns");
    CHECK(binding.text("subjects/0/namespace") == "ns");
}

TEST_CASE("the state of slurmctld is on a claim, as the spec says")
{
    auto claims = [](const char *more) {
        return body_of(settled(with(inside(more, held))),
                       "apply StatefulSet slurm-controller")
            .at("spec/volumeClaimTemplates")
            .dump();
    };
    CHECK(
        claims("") ==
        R"([{"metadata":{"name":"statesave"},"spec":{"accessModes":)"
        R"(["ReadWriteOncePod"],"resources":{"requests":{"storage":"4Gi"}}}}])");
    CHECK(claims(R"(, "persistence": {"enabled": true, "accessModes":
        ["ReadWriteOnce"], "storageClassName": "fast", "resources":
        {"requests": {"storage": "1Gi"}}})")
              .contains(R"("accessModes":["ReadWriteOnce"],)"
                        R"("storageClassName":"fast")"));
    CHECK(claims(R"(, "persistence": {"enabled": true,
        "existingClaim": "mine"})") == "[]");
    CHECK(claims(R"(, "persistence": {"enabled": false})") == "[]");
}

TEST_CASE("a file that others have put into the ConfigMap is removed, once")
{
    Known known = with(inside({}, held));
    settle(known);
    CHECK(whats(decided(known)) == "");
    Made &conf = known.made[{"ConfigMap", {"ns", "slurm-config"}}];
    conf.meta.uid = "conf-uid";
    conf.meta.version = "9";
    conf.data["gres.conf"] = "Name=gpu";
    conf.binary_data["blob"] = "AAEC";
    auto steps = decided(known);
    CHECK(whats(steps) == "remove files of others from ConfigMap slurm-config");
    CHECK(steps.front().verb == Step::Verb::patch);
    CHECK(steps.front().body ==
          R"({"metadata":{"uid":"conf-uid","resourceVersion":"9"},)"
          R"("data":{"gres.conf":null},"binaryData":{"blob":null}})");
    conf.data.erase("gres.conf");
    conf.binary_data.clear();
    CHECK(whats(decided(known)) == "");
    conf.data["slurm.conf"] = "";
    CHECK(whats(decided(known)) == "apply ConfigMap slurm-config");
}

TEST_CASE("slurm.conf: a NodeSet has the name that slurm-operator gives it")
{
    Known known = with(inside({}, held));
    auto named = [](const char *hostname) {
        return R"(, "partition": {"enabled": true}, "template": {"spec":
            {"hostname": ")" +
               std::string(hostname) + "\"}}";
    };
    add(known, node_set(2, named("gpu-"), "slurm-worker-gpu"));
    add(known, node_set(2, named("gpu-x-"), "slurm-worker-x"));
    add(known, node_set(2, named("GPU=1"), "w"));
    add(known, node_set(2, {}, "x"));
    NodeSet also = node_set(2, named("gpu-"), "z"); // has no partition
    also.spec = read_own(
        merged(also.spec, json(R"({"partition": {"enabled": false}})")));
    add(known, also);
    std::string conf = conf_of(settled(known));
    CHECK(conf.substr(conf.find("# NodeSets")) ==
          "# NodeSets\n"
          "NodeSet=gpu Feature=gpu\n"
          "NodeSet=gpu-x Feature=gpu-x\n"
          "NodeSet=w Feature=w\n"
          "NodeSet=x Feature=x\n"
          "PartitionName=gpu Nodes=gpu\n"
          "PartitionName=gpu-x Nodes=gpu-x\n"
          "PartitionName=w Nodes=w\n");
}

TEST_CASE("slurm.conf: NodeSets and their partitions, extraConf last")
{
    Known known = with(inside(R"(, "extraConf": "PartitionName=all Nodes=ALL",
        "metrics": {"enabled": true})",
                              held));
    add(known, node_set(2, R"(, "partition": {"enabled": true,
        "config": "Default=YES \\\nEvil=1"})",
                        "b"));
    add(known, node_set(2, {}, "a"));
    NodeSet foreign = node_set(2, {}, "foreign");
    foreign.controller = "other";
    add(known, foreign);
    std::string conf = conf_of(settled(known));
    CHECK(conf.contains("SlurmctldHost=slurm-controller-0"
                        "(slurm-controller.ns)\n"));
    CHECK(conf.contains("ClusterName=ns_slurm\n"));
    CHECK(conf.contains("MetricsType=metrics/openmetrics\n"));
    CHECK(conf.contains("MaxNodeCount=1024\n"));
    CHECK_FALSE(conf.contains("PrEpPlugins"));
    CHECK(conf.ends_with("\n# NodeSets\n"
                         "NodeSet=a Feature=a\n"
                         "NodeSet=b Feature=b\n"
                         "PartitionName=b Nodes=b Default=YES   Evil=1\n"
                         "\n# extraConf\n"
                         "PartitionName=all Nodes=ALL\n"));
    CHECK(conf == conf_of(settled(known)));
}

TEST_CASE("slurm.conf loads the plugins where the Controller says so")
{
    std::string conf = conf_of(settled(with(
        inside({}, std::string(held) +
                       R"(, "annotations": {"slurmk8s/plugins": "true"})"))));
    CHECK(conf.contains("JobSubmitPlugins=k8s\n"));
    CHECK(conf.contains("PrEpPlugins=prep/script,prep/k8s\n"));
}

TEST_CASE("MaxNodeCount never becomes less, and no partition is forgotten")
{
    Known known = with(inside({}, held));
    add(known, node_set(3000, R"(, "partition": {"enabled": true})"));
    CHECK(conf_of(settle(known)).contains("MaxNodeCount=8192\n"));
    known.node_sets.clear();
    auto steps = settle(known);
    CHECK(conf_of(steps).contains("MaxNodeCount=8192\n"));
    CHECK(conf_of(steps).contains("PartitionName=w State=INACTIVE\n"));
    CHECK(whats(decided(known)) == "");
}

TEST_CASE("only the first start of slurmctld waits for Accounting")
{
    Known known = with(inside(R"(, "accountingRef": {"name": "db"})", held));
    CHECK_FALSE(whats(settle(known)).contains("StatefulSet"));
    CHECK(said(decided(known), "Available") ==
          "False: There is no Accounting db in this namespace.");

    Unserved accounting = unserved_from(json(R"({"kind": "Accounting",
        "metadata": {"namespace": "ns", "name": "db", "uid": "a-uid"},
        "spec": {"slurmKeyRef": {"name": "keys", "key": "slurm.key"},
        "jwtKeyRef": {"name": "jwts", "key": "jwt.key"},
        "slurmdbd": {"image": "dbd"}, "storageConfig": {"host": "mariadb",
        "passwordKeyRef": {"name": "db", "key": "password"}}}})"));
    known.unserved[{"Accounting", accounting.meta.key}] = accounting;
    auto made = decide_accounting(known, accounting, {}, now);
    CHECK(whats(made) == "apply ConfigMap db-accounting; apply Service "
                         "db-accounting; apply Deployment db-accounting");
    make(known, made);
    CHECK(whats(decide_accounting(known, accounting, {}, now)) == "");
    CHECK_FALSE(whats(settle(known)).contains("StatefulSet"));

    Made &deployment = known.made[{"Deployment", {"ns", "db-accounting"}}];
    deployment.ready = 1;
    CHECK(known.made[{"ConfigMap", {"ns", "slurm-config"}}]
              .data["slurm.conf"]
              .contains("AccountingStorageHost=db-accounting.ns\n"));
    CHECK(whats(settle(known)) == "apply StatefulSet slurm-controller");
    deployment.ready = 0;
    CHECK(whats(decided(known)) == "");
}

TEST_CASE("slurmdbd: one at a time, and no password in its files")
{
    Unserved accounting = unserved_from(json(R"({"kind": "Accounting",
        "metadata": {"namespace": "ns", "name": "db", "uid": "a-uid"},
        "spec": {"slurmKeyRef": {"name": "keys", "key": "slurm.key"},
        "jwtKeyRef": {"name": "jwts", "key": "jwt.key"},
        "slurmdbd": {"image": "dbd"}, "extraConf": "DebugLevel=debug",
        "storageConfig": {"host": "mariadb", "username": "u",
        "passwordKeyRef": {"name": "secret", "key": "password"}}}})"));
    Json deployment = body_of(decide_accounting({}, accounting, {}, now),
                              "apply Deployment db-accounting");
    CHECK(deployment.text("spec/strategy/type") == "Recreate");
    CHECK(container(deployment.at("spec/template/spec"), "slurmdbd")
              .at("env")
              .dump() == R"([{"name":"MYSQL_PWD","valueFrom":{"secretKeyRef":)"
                         R"({"name":"secret","key":"password"}}}])");
    std::string conf = slurmdbd_conf(accounting);
    CHECK(conf.contains("StorageHost=mariadb\nStoragePort=3306\n"
                        "StorageUser=u\nStorageLoc=slurm_acct_db\n"));
    CHECK_FALSE(conf.contains("StoragePass"));
    CHECK(conf.ends_with("# extraConf\nDebugLevel=debug\n"));
}

TEST_CASE("slurmdbd takes tokens of an identity provider, and starts again for "
          "other keys")
{
    Unserved accounting = unserved_from(json(R"({"kind": "Accounting",
        "metadata": {"namespace": "ns", "name": "db", "uid": "a-uid"},
        "spec": {"slurmKeyRef": {"name": "keys", "key": "slurm.key"},
        "jwtKeyRef": {"name": "jwts", "key": "jwt.key"},
        "jwksKeyRef": {"name": "ids", "key": "k"},
        "slurmdbd": {"image": "dbd"}, "storageConfig": {"host": "mariadb",
        "passwordKeyRef": {"name": "secret", "key": "password"}}}})"));
    CHECK(slurmdbd_conf(accounting).contains("jwks=/etc/slurm/jwks.json\n"));
    Known known;
    auto steps = [&] { return decide_accounting(known, accounting, {}, now); };
    auto hash = [&] {
        return body_of(steps(), "apply Deployment db-accounting")
            .at("spec/template/metadata/annotations")
            .member("slurmk8s/config-hash")
            .text();
    };
    CHECK(steps().empty()); // the ConfigMaps were not read yet
    known.file_namespaces.insert("ns");
    CHECK(said(steps(), "Accepted").contains("jwksKeyRef"));
    CHECK(hash() == "");
    FileMap ids;
    ids.meta.key = {"ns", "ids"};
    ids.texts = {{"k", R"({"keys":[]})"}};
    known.file_maps[ids.meta.key] = ids;
    CHECK(body_of(steps(), "apply ConfigMap db-accounting")
              .at("data")
              .member("jwks.json")
              .text() == R"({"keys":[]})");
    CHECK(body_of(steps(), "apply Deployment db-accounting")
              .at("spec/template/spec/initContainers")
              .dump()
              .contains("/mnt/slurm/jwks.json"));
    std::string before = hash();
    known.file_maps[ids.meta.key].texts["k"] = R"({"keys":[{}]})";
    CHECK(hash() != before);
    known.file_maps[ids.meta.key].texts["k"] = "keys";
    CHECK(said(steps(), "Accepted").contains("no JSON"));
    CHECK(hash() == "");
}

TEST_CASE("what no slurmctld can be made of gets none, and a sentence")
{
    Known known = with(inside(R"(, "template": {"spec":
        {"hostNetwork": true}})"));
    auto steps = decided(known);
    CHECK(whats(steps) == "");
    CHECK(said(steps, "Accepted").contains("hostNetwork"));

    known = with(inside());
    Controller older = inside({}, held);
    older.meta.key.name = "a";
    known.controllers[older.meta.key] = older;
    steps =
        decide_cluster(known, known.controllers.at({"ns", "slurm"}), {}, now);
    CHECK(said(steps, "Accepted").contains("Controller a has a slurmctld"));
    CHECK(whats(decide_cluster(known, older, {}, now))
              .starts_with("apply ServiceAccount"));
}

TEST_CASE("slurmctld stays until its workers are gone")
{
    constexpr char deleted[] = R"(, "finalizers": ["slurmk8s/cluster", "x"],
        "deletionTimestamp": "2026-01-01T00:00:00Z")";
    Known known = with(inside({}, deleted));
    known.workers[{"ns", "w-0"}] = pod_of("w-0");
    auto steps = decided(known);
    CHECK(whats(steps) == "");
    CHECK(said(steps, "Deleting").contains("such as w-0"));

    known.controllers.begin()->second =
        inside({}, std::string(deleted) +
                       R"(, "annotations": {"slurmk8s/delete": "now"})");
    CHECK(whats(decided(known)) == "delete Pod w-0");
    known.workers.begin()->second.meta.deleting = true;
    CHECK(whats(decided(known)) == "remove the finalizer of Controller slurm");

    known.controllers.begin()->second = inside({}, deleted);
    CHECK(whats(decided(known)) == "");
    known.workers.clear();
    steps = decided(known);
    CHECK(whats(steps) == "remove the finalizer of Controller slurm");
    CHECK(json(steps[0].body).at("metadata/finalizers").dump() == R"(["x"])");
}

TEST_CASE("the workers of a Controller that is deleted are asked to go")
{
    Known known = known_with(node_set(1), {worker(0)});
    known.controllers.begin()->second =
        inside({}, R"(, "deletionTimestamp": "2026-01-01T00:00:00Z")");
    CHECK(whats(decide_node_set(known, known.node_sets.at({"ns", "w"}), {},
                                now)) == "ask to drain Pod w-0");
}

TEST_CASE("workers get their slurmctld by its Service")
{
    std::string pod =
        worker_pod(node_set(1), inside(), slot_of(node_set(1), 0));
    CHECK(pod.contains(R"("--conf-server","slurm-controller.ns:6817")"));
}
