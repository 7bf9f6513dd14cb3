// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/trial.h"
#include "operator/decide/trial_text.h"
#include "tests/unit/operator/make_cluster.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

void change(Known &known, const std::string &more)
{
    known.controllers.begin()->second = inside(more, held);
}

void change_conf(Known &known, const std::string &extra)
{
    change(known, R"(, "extraConf": ")" + extra + R"(")");
}

// The Pod of the only trial.
Daemon &trial_in(Known &known)
{
    REQUIRE(known.daemons.size() == 1);
    return known.daemons.begin()->second;
}

// What kubelets and slurmctld make of it.
void refuse(Known &known, const std::string &words)
{
    Daemon &pod = trial_in(known);
    pod.phase = "Failed";
    pod.ended = true;
    pod.ended_at = "2027-01-15T07:59:59Z"; // a second ago
    pod.words = words;
}

std::string live_conf_of(const Known &known)
{
    return known.made.at({"ConfigMap", {"ns", "slurm-config"}})
        .data.at("slurm.conf");
}

// The condition as it is, for what is decided next.
void remember(Known &known, const std::vector<Step> &steps)
{
    for (const Step &step : steps)
        if (step.is_report)
            known.controllers.begin()->second.conditions =
                controller_from(json(step.body)).conditions;
}

Daemon slurmctld_pod()
{
    return daemon_from(json(R"({"metadata": {"namespace": "ns",
        "name": "slurm-controller-0", "uid": "p-uid"}})"));
}

} // namespace

TEST_CASE("a trial has nothing of the one that serves, and no database")
{
    Known known = with(inside(R"(, "extraConf": "accountingstoragetype = x\n)"
                              R"(PartitionName=q AllowQOS=high Nodes=w",
        "template": {"spec": {"hostname": "h", "nodeName": "n",
        "automountServiceAccountToken": true}},
        "persistence": {"existingClaim": "mine"})",
                              held));
    auto steps = decided(known);
    make(known, steps);
    std::string name = trial_in(known).meta.key.name;
    Json pod = body_of(steps, "create Pod " + name).at("spec");
    CHECK(pod.text("hostname") == "slurm-controller-0");
    CHECK(pod.text("restartPolicy") == "Never");
    CHECK(pod.text("nodeName") == "");
    CHECK_FALSE(pod.flag("automountServiceAccountToken"));
    CHECK_FALSE(pod.dump().contains("secret"));
    CHECK_FALSE(pod.dump().contains("mine"));
    CHECK(container(pod, "slurmctld").text("terminationMessagePolicy") ==
          "FallbackToLogsOnError");
    CHECK(pod.items("containers").size() == 1);
    Json data = body_of(steps, "apply ConfigMap " + name).at("data");
    std::string conf = data.member("slurm.conf").text();
    CHECK(conf.contains("SlurmctldHost=slurm-controller-0(127.0.0.1)\n"));
    CHECK(conf.ends_with("\n# extraConf\n\nPartitionName=q  Nodes=w\n"));
    CHECK(data.member("slurm.key").text().size() > 32);
    CHECK(data.member("jwt.key").text().size() > 32);
    // Its labels are none by which a Service finds slurmctld.
    CHECK(body_of(steps, "create Pod " + name)
              .at("metadata/labels")
              .member(names::app_label)
              .text() == "slurmctld-trial");
}

TEST_CASE("what is refused does not reach slurmctld, and its words are told")
{
    Known known = with(inside({}, held));
    settle(known);
    const std::string before = live_conf_of(known);
    change_conf(known, "Nonsense=1");
    make(known, decided(known));
    CHECK(said(decided(known), "ConfigValid").starts_with("Unknown: A slurm"));
    refuse(known, "error: unrecognized key: Nonsense\nfatal: Unable");
    auto steps = decided(known);
    CHECK(whats(steps) == "");
    std::string words = said(steps, "ConfigValid");
    CHECK(words.starts_with("False: Configuration "));
    CHECK(words.contains("goes on with the one before"));
    CHECK(words.ends_with("unrecognized key: Nonsense\nfatal: Unable"));
    CHECK(live_conf_of(known) == before);

    // What somebody deletes is made again, with what was accepted.
    known.made.erase({"StatefulSet", {"ns", "slurm-controller"}});
    make(known, decided(known));
    CHECK(known.made.contains({"StatefulSet", {"ns", "slurm-controller"}}));

    change_conf(known, "KillWait=47");
    CHECK(whats(settle(known)).contains("apply ConfigMap slurm-config"));
    CHECK(live_conf_of(known).contains("KillWait=47"));
    CHECK(said(decided(known), "ConfigValid").starts_with("True: "));
    CHECK(known.daemons.empty());
}

TEST_CASE("nothing is started with a first configuration that is refused")
{
    Known known = with(inside(R"(, "extraConf": "Nonsense=1")", held));
    make(known, decided(known));
    refuse(known, "fatal: no");
    auto steps = decided(known);
    CHECK(whats(steps) == "");
    CHECK(said(steps, "ConfigValid").contains("slurmctld is not started"));
    CHECK_FALSE(known.made.contains({"ConfigMap", {"ns", "slurm-config"}}));
}

TEST_CASE("slurmk8sd reconfigures: the Pod stays, and hears of it at once")
{
    Known known = with(inside({}, held));
    settle(known);
    Daemon pod = slurmctld_pod();
    known.daemons[pod.meta.key] = pod;
    CHECK(whats(decided(known)) ==
          "announce the configuration to Pod slurm-controller-0");
    std::string body = decided(known)[0].body;
    CHECK(json(body).text("metadata/uid") == "p-uid");
    std::string hash =
        json(body).at("metadata/annotations").texts().begin()->second;
    known.daemons[pod.meta.key].meta.annotations["slurmk8s/config-hash"] = hash;
    CHECK(whats(decided(known)) == "");
    CHECK(said(decided(known), "ConfigApplied").starts_with("False: "));
    known.daemons[pod.meta.key].configured = hash;
    CHECK(said(decided(known), "ConfigApplied").starts_with("True: "));

    change_conf(known, "KillWait=47");
    std::string all = whats(settle(known));
    CHECK(all.contains("apply ConfigMap slurm-config"));
    CHECK_FALSE(all.contains("StatefulSet"));
    CHECK(said(decided(known), "ConfigApplied").starts_with("False: "));
}

TEST_CASE("without slurmk8sd another configuration is another Pod")
{
    Known known = with(inside({}, held));
    known.agent_image = "";
    settle(known);
    change_conf(known, "KillWait=47");
    CHECK(whats(settle(known)).contains("apply StatefulSet slurm-controller"));
}

TEST_CASE("another image is tried before slurmctld gets it")
{
    Known known = with(inside({}, held));
    settle(known);
    Known other = with(controller_from(json(R"({"metadata": {"namespace": "ns",
        "name": "slurm", "uid": "c-uid", "finalizers": ["slurmk8s/cluster"]},
        "spec": {"slurmKeyRef": {"name": "keys", "key": "slurm.key"},
        "jwtKeyRef": {"name": "jwts", "key": "jwt.key"},
        "slurmctld": {"image": "newer"}}})")));
    known.controllers = other.controllers;
    auto steps = decided(known);
    CHECK_FALSE(whats(steps).contains("StatefulSet"));
    make(known, steps);
    CHECK(steps.size() > 1);
    CHECK(whats(settle(known)).contains("apply StatefulSet slurm-controller"));
}

TEST_CASE("a trial that ended without a word is repeated, a refusal later")
{
    Known known = with(inside({}, held));
    make(known, decided(known));
    trial_in(known).phase = "Failed"; // evicted before it began
    trial_in(known).lost = true;
    std::string name = trial_in(known).meta.key.name;
    CHECK(whats(decided(known)) == "delete Pod " + name);
    make(known, decided(known));
    CHECK(whats(decided(known)) == "create Pod " + name);
    make(known, decided(known));

    refuse(known, "fatal: no such host");
    auto steps = decided(known);
    CHECK(whats(steps) == "");
    remember(known, steps);
    trial_in(known).ended_at = "2027-01-15T07:54:59Z"; // 5 minutes ago
    CHECK(whats(decided(known)) == "delete Pod " + name);
    make(known, decided(known));
    make(known, decided(known));
    // Until it is accepted it is as it was.
    CHECK(said(decided(known), "ConfigValid") == "");
    trial_in(known).ready = true;
    CHECK(said(decided(known), "ConfigValid").starts_with("True: "));
}

TEST_CASE("why a trial waits is told")
{
    Daemon pod = daemon_from(json(R"({"metadata": {"name": "x"}, "status":
        {"phase": "Pending", "containerStatuses": [{"name": "slurmctld",
        "state": {"waiting": {"reason": "ErrImagePull", "message": "no"}}}]}})"));
    CHECK(pod.words == "ErrImagePull: no");
    CHECK_FALSE(pod.ended);
    pod = daemon_from(json(R"({"status": {"conditions": [{"type":
        "PodScheduled", "status": "False", "message": "0 of 2 Nodes"}]}})"));
    CHECK(pod.words == "0 of 2 Nodes");
    pod = daemon_from(json(R"({"status": {"phase": "Failed",
        "reason": "Evicted", "containerStatuses": [{"name": "slurmctld",
        "state": {"terminated": {"exitCode": 1, "finishedAt": "T",
        "message": "fatal: x"}}}]}})"));
    CHECK(pod.lost);
    CHECK(pod.ended);
    CHECK(pod.words == "fatal: x");
    pod = daemon_from(json(R"({"status": {"conditions": [{"type":
        "slurmk8s/Configured", "status": "True", "message": "h"}]}})"));
    CHECK(pod.configured == "h");
}

TEST_CASE("a slurm.conf for a slurmctld without a database")
{
    CHECK(without_database("A=1\nAccountingStorageType=x B=2\n") ==
          "A=1\n B=2\n");
    CHECK(without_database("AccountingStorageTRES = \"a b\" C=3") == " C=3");
    CHECK(without_database("PartitionName=p QOS=q Nodes=n DENYQOS+=a,b\n") ==
          "PartitionName=p  Nodes=n \n");
    CHECK(without_database("AccountingStorageHost=h QOSx=1 xQOS=1\n") ==
          "AccountingStorageHost=h QOSx=1 xQOS=1\n");
    CHECK(without_database("# QOS is a word\nNote=\"QOS=1 x\"") ==
          "# QOS is a word\nNote=\"QOS=1 x\"");
    CHECK(without_database("QOS=\"open") == "");
    CHECK(without_database("") == "");
}
