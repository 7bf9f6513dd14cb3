// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/configuration.h"
#include "operator/decide/k8s_conf.h"
#include "operator/decide/trial.h"
#include "tests/unit/operator/make_cluster.h"

#include <doctest/doctest.h>
#include <utility>

using namespace bridge;
using namespace bridge::slinky;

namespace {

constexpr char ours[] = "WorkerNamespace=ns\nLeaseNamespace=ns\n"
                        "LeaseName=slurmk8sd\n"
                        "ConfigHashFile=/etc/slurm/config-hash\n";

// more: members of its spec, with a comma.
Controller bridged(const std::string &lines = {}, const std::string &more = {})
{
    Controller made = inside(more, held);
    made.meta.annotations = {{names::bridge_annotation, "true"},
                             {names::plugins_annotation, "true"},
                             {names::k8s_conf_annotation, lines}};
    return made;
}

void change(Known &known, Controller controller)
{
    Controller &there = known.controllers.begin()->second;
    controller.conditions = there.conditions;
    there = std::move(controller);
}

const TextMap &files_of(const Known &known)
{
    return known.made.at({"ConfigMap", {"ns", "slurm-config"}}).data;
}

// The condition Agent, which is kept as the API server keeps it.
std::string agent(Known &known)
{
    Controller &controller = known.controllers.begin()->second;
    for (const Step &step : decided(known))
        if (step.is_report)
            controller.conditions = controller_from(json(step.body)).conditions;
    const Condition *found = find_condition(controller.conditions, "Agent");
    return found ? found->status + " " + found->reason : "";
}

// What slurmk8sd does when slurmctld has read its files.
void tell(Known &known)
{
    Daemon pod = daemon_from(json(R"({"metadata": {"namespace": "ns",
        "name": "slurm-controller-0", "uid": "p-uid"}})"));
    pod.configured = live_hash(known, known.controllers.begin()->second);
    known.daemons[pod.meta.key] = pod;
}

std::string problem_of(const std::string &lines)
{
    return k8s_conf_problem(bridged(lines));
}

std::string refusal(const std::string &why)
{
    return "The annotation slurmk8s/k8s-conf cannot be taken: " + why + ".";
}

} // namespace

TEST_CASE("without the bridge slurmk8sd serves the workers of its namespace")
{
    Known known = with(inside({}, held));
    settle(known);
    CHECK(files_of(known).at("k8s.conf") ==
          std::string(ours) + "SchedulePods=no\n");
    CHECK_FALSE(files_of(known).contains("plugstack.conf"));
    CHECK(said(decided(known), "Agent").ends_with("schedules no Pods."));

    // Lines for the bridge do not count, nor are they looked at.
    Controller controller = bridged("Nonsense=1");
    controller.meta.annotations[names::bridge_annotation] = "yes";
    CHECK(k8s_conf_problem(controller) == "");
    CHECK(k8s_conf(controller) == std::string(ours) + "SchedulePods=no\n");
}

TEST_CASE("with the bridge Slurm schedules Pods, and the site adds lines")
{
    Known known = with(bridged("# ours\nDefaultUser=alice"));
    settle(known);
    CHECK(files_of(known).at("k8s.conf") ==
          std::string(ours) + "# ours\nDefaultUser=alice\n");
    CHECK(files_of(known).at("plugstack.conf") == "optional spank_k8s.so\n");
    std::string words = said(decided(known), "Agent");
    CHECK(words.starts_with("True: "));
    CHECK(words.ends_with("chart slurm-k8s-bridge with agent.namespace=ns and "
                          "agent.serviceAccount=slurm-controller."));
}

TEST_CASE("the bridge needs the plugins, and a condition says so")
{
    Controller controller = bridged("DefaultUser=alice");
    controller.meta.annotations.erase(names::plugins_annotation);
    Known known = with(controller);
    settle(known);
    CHECK(files_of(known).at("k8s.conf").ends_with("\nSchedulePods=no\n"));
    CHECK_FALSE(files_of(known).contains("plugstack.conf"));
    std::string words = said(decided(known), "Agent");
    CHECK(words.starts_with("False: Slurm cannot schedule Pods"));
    CHECK(words.contains("slurmk8s/plugins"));
}

TEST_CASE("lines of the site: a mistake is named with the number of its line")
{
    CHECK(problem_of("DefaultUser=alice\nMaxGangSize=8") == "");
    CHECK(problem_of("DefaultUser=alice\nNonsense=1") ==
          refusal("line 2: unknown key \"Nonsense\", see k8s.conf(5)"));
    CHECK(problem_of("\nMaxGangSize=0\n") ==
          refusal("line 2: MaxGangSize must be a whole number from 1 to "
                  "65533"));
    CHECK(problem_of("a\n").contains("line 1: \"a\" is not Key=Value"));
    CHECK(problem_of("UserAddress=0.0.0.0:6831").contains("UserCertificate"));
}

TEST_CASE("lines of the site: what the operator sets, nobody else sets")
{
    CHECK(problem_of("DefaultUser=alice\n\nworkernamespace = other") ==
          refusal("line 3: WorkerNamespace is set by the operator: leave it "
                  "out"));
    for (const char *line :
         {"SchedulePods=yes", "WorkerController=a", "LeaseNamespace=a",
          "LeaseName=a", "ConfigHashFile=/a", "KubeApiServer=https://a",
          "KubeCaFile=/a", "KubeTokenFile=/a", "Socket=/a", "KubeletDir=/a",
          "NodeLabelsFile=/a", "Socket="}) {
        CAPTURE(line);
        CHECK(problem_of(line).contains("leave it out"));
    }
}

TEST_CASE("a mistake reaches nobody, and what runs stays")
{
    Known known = with(bridged("DefaultUser=alice"));
    settle(known);
    const TextMap before = files_of(known);
    change(known, bridged("Nonsense=1"));
    auto steps = decided(known);
    CHECK(whats(steps) == "");
    CHECK(said(steps, "Accepted").starts_with("False: The annotation"));
    CHECK(said(steps, "Agent").starts_with("True: "));
    CHECK(files_of(known) == before);

    change(known, bridged("DefaultUser=bob"));
    settle(known);
    CHECK(files_of(known).at("k8s.conf").ends_with("\nDefaultUser=bob\n"));
    CHECK(said(decided(known), "Accepted").starts_with("True: "));
}

TEST_CASE("the condition Agent tells what slurmk8sd has read")
{
    Known known = with(inside({}, held));
    CHECK(agent(known) == "True Workers"); // it begins with that
    settle(known);
    tell(known);
    CHECK(agent(known) == "True Workers");

    change(known, bridged());
    CHECK(agent(known) == "Unknown Changes"); // it is tried
    settle(known);
    CHECK(agent(known) == "Unknown Changes"); // it was not read
    tell(known);
    CHECK(agent(known) == "True Bridge");

    change(known, bridged("DefaultUser=alice"));
    settle(known);
    CHECK(agent(known) == "True Bridge"); // whatever else changes
    tell(known);

    change(known, inside({}, held));
    CHECK(agent(known) == "Unknown Changes");
    CHECK(find_condition(known.controllers.begin()->second.conditions, "Agent")
              ->message.contains("still schedules Pods"));
    settle(known);
    CHECK(agent(known) == "Unknown Changes");
    tell(known);
    CHECK(agent(known) == "True Workers");
}

TEST_CASE("the site's own plugstack.conf wins, and the condition says so")
{
    Known known =
        with(bridged({}, R"(, "configFileRefs": [{"name": "files"}])"));
    FileMap files;
    files.meta.key = {"ns", "files"};
    files.texts = {{"plugstack.conf", "required other.so\n"}};
    known.file_maps[files.meta.key] = files;
    known.file_namespaces.insert("ns");
    settle(known);
    CHECK(files_of(known).at("plugstack.conf") == "required other.so\n");
    CHECK(said(decided(known), "Agent")
              .ends_with("if it has the line \"optional spank_k8s.so\"."));
}

TEST_CASE("with the bridge each Node may become a Slurm node")
{
    Known known = with(bridged());
    for (int i = 0; i < 600; i++)
        known.nodes[{"", "n" + std::to_string(i)}] = {};
    CHECK(conf_of(settled(known)).contains("MaxNodeCount=2048\n"));
    change(known, inside({}, held));
    CHECK(conf_of(settled(known)).contains("MaxNodeCount=1024\n"));
}

TEST_CASE("a trial has k8s.conf as it is")
{
    Controller controller = bridged("PriorityClass=high qos=urgent nice=-5");
    Known known = with(controller);
    std::string name =
        trial_name(controller, configuration_of(known, controller).hash);
    CHECK(body_of(decided(known), "apply ConfigMap " + name)
              .at("data")
              .member("k8s.conf")
              .text()
              .ends_with("\nPriorityClass=high qos=urgent nice=-5\n"));
}

TEST_CASE("whether a slurmk8sd with this k8s.conf schedules Pods")
{
    CHECK(schedules_pods(""));
    CHECK(schedules_pods("# SchedulePods=no\nDefaultUser=alice\n"));
    CHECK(schedules_pods("SchedulePods=yes"));
    CHECK_FALSE(schedules_pods("A=1\nschedulepods = No # as before\n"));
}
