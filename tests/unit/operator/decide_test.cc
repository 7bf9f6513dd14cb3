// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/decide.h"
#include "tests/unit/operator/make.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

constexpr Now now{std::chrono::seconds(1800000000)};

std::vector<Step> decided(const Known &known, const std::string &name = "w",
                          const Failures &failures = {})
{
    return decide_node_set(known, known.node_sets.at({"ns", name}), failures,
                           now);
}

// The NodeSet as it is once the status has been written.
NodeSet after(const NodeSet &set, const std::vector<Step> &steps)
{
    NodeSet made = set;
    made.status = json(steps.back().body).at("status");
    made.conditions.clear();
    for (const Json &item : made.status.items("conditions"))
        made.conditions.push_back(
            {item.text("type"), item.text("status"), item.text("reason"),
             item.text("message"), item.text("lastTransitionTime"),
             item.integer("observedGeneration").value_or(0)});
    return made;
}

} // namespace

TEST_CASE("a NodeSet is held before it gets Pods")
{
    NodeSet set = node_set(1);
    set.finalizers = {"other/one"};
    auto steps = decided(known_with(set, {}));
    CHECK(whats(steps) == "set the finalizer of NodeSet w");
    REQUIRE(steps.size() == 1);
    Json body = json(steps[0].body);
    CHECK(body.at("metadata/finalizers").dump() ==
          R"(["other/one","slurmk8s/workers"])");
    CHECK(body.text("metadata/resourceVersion") == "7");
}

TEST_CASE("Pods are created, and nothing is decided twice")
{
    NodeSet set = node_set(2);
    auto steps = decided(known_with(set, {worker(0)}));
    CHECK(whats(steps) == "create Pod w-1");
    CHECK(steps[0].path == "/api/v1/namespaces/ns/pods");
    CHECK(said(steps, "Available") == "False: 1 of 2 Pods are ready.");

    Known known = known_with(set, {worker(0), worker(1)});
    steps = decided(known);
    CHECK(whats(steps) == "");
    REQUIRE(steps.size() == 1);
    known.node_sets.at(set.meta.key) = after(set, steps);
    CHECK(decided(known).empty());
}

TEST_CASE("a condition keeps its time while its status is the same")
{
    NodeSet set = node_set(2);
    Known known = known_with(set, {});
    NodeSet first = after(set, decided(known));
    known.node_sets.at(set.meta.key) = first;
    known.workers[worker(0).meta.key] = worker(0);
    NodeSet second = after(
        first, decide_node_set(known, first, {}, now + std::chrono::hours(1)));
    auto since = [](const NodeSet &one, const char *type) {
        return find_condition(one.conditions, type)->since;
    };
    CHECK(since(second, "Available") == since(first, "Available"));
    CHECK(since(first, "Available") == "2027-01-15T08:00:00Z");
}

TEST_CASE("a smaller number asks, and deletes nobody who has not answered")
{
    Worker answered = worker(2);
    answered.request = WorkerRequest{4, true};
    answered.answer = DrainAnswer{"uid-2", 4, 1, 1800000000};
    auto steps =
        decided(known_with(node_set(1), {worker(0), worker(1), answered}));
    CHECK(whats(steps) == "delete Pod w-2; ask to drain Pod w-1");
    CHECK(json(steps[0].body).at("preconditions").dump() ==
          R"({"uid":"uid-2","resourceVersion":"9"})");
    Json request = json(steps[1].body);
    CHECK(request.text("metadata/uid") == "uid-1");
    CHECK(request.at("metadata/annotations").dump() ==
          R"({"slurmk8s/worker-request":"drain 1"})");
    CHECK(said(steps, "ScalingIn").starts_with("True: A Pod is to go when"));
}

TEST_CASE("a NodeSet that is deleted asks for all, and goes after its Pods")
{
    NodeSet set = node_set(2);
    set.meta.deleting = true;
    CHECK(whats(decided(known_with(set, {worker(0), worker(1)}))) ==
          "ask to drain Pod w-1; ask to drain Pod w-0");
    CHECK(whats(decided(known_with(set, {}))) ==
          "remove the finalizer of NodeSet w");
    set.finalizers.clear();
    CHECK(decided(known_with(set, {})).empty());
}

TEST_CASE("the records of Slurm nodes go with Pods that do not come back")
{
    auto asks = [](const Known &known) {
        auto steps = decided(known);
        REQUIRE(whats(steps) == "ask to drain Pod w-1");
        return json(steps[0].body).at("metadata/annotations").dump();
    };
    const std::string prunes = R"(, "pruneSlurmNodeRecords": "NodeNotFound")";
    const std::string plain = R"({"slurmk8s/worker-request":"drain 1"})";
    const std::string for_good = R"({"slurmk8s/worker-request":"drain 1",)"
                                 R"("slurmk8s/forget-node":"true"})";
    CHECK(asks(known_with(node_set(1), {worker(0), worker(1)})) == plain);
    CHECK(asks(known_with(node_set(1, prunes), {worker(0), worker(1)})) ==
          for_good);
    NodeSet deleted = node_set(2);
    deleted.meta.deleting = true;
    CHECK(asks(known_with(deleted, {worker(1)})) == for_good);
    // It comes back with the new template.
    Worker old = worker(1);
    old.meta.labels[names::revision_label] = "older";
    CHECK(asks(known_with(node_set(2, prunes), {worker(0), old})) == plain);
}

TEST_CASE("a Pod that was asked, and is to be forgotten now, is asked again")
{
    NodeSet set = node_set(1, R"(, "pruneSlurmNodeRecords": "NodeNotFound")");
    Worker asked = worker(1);
    asked.request = WorkerRequest{4, true};
    asked.answer = DrainAnswer{"uid-1", 4, 1, 1800000000};
    CHECK(whats(decided(known_with(set, {worker(0), asked}))) ==
          "ask to drain Pod w-1");
    asked.for_good = true;
    CHECK(whats(decided(known_with(set, {worker(0), asked}))) ==
          "delete Pod w-1");
    // And the other way round: it is to be replaced, not to go.
    CHECK(whats(decided(known_with(node_set(1), {worker(0), asked}))) ==
          "ask to drain Pod w-1");
}

TEST_CASE("slurmk8s/delete counts only together with a deletion")
{
    NodeSet set = node_set(1);
    set.meta.annotations[names::delete_annotation] = "now";
    CHECK(whats(decided(known_with(set, {worker(0)}))) == "");
    set.meta.deleting = true;
    CHECK(whats(decided(known_with(set, {worker(0)}))) == "delete Pod w-0");
    set.meta.annotations[names::delete_annotation] = "yes";
    CHECK(whats(decided(known_with(set, {worker(0)}))) ==
          "ask to drain Pod w-0");
}

TEST_CASE("without what a Pod needs none is made, and the reason is said")
{
    auto problem = [](const Known &known) {
        auto steps = decided(known);
        CHECK(whats(steps) == "");
        return said(steps, "Accepted");
    };
    Known known = known_with(node_set(1), {});
    Controller &controller = known.controllers.begin()->second;
    controller.key_secret.clear();
    CHECK(problem(known).contains("no slurmKeyRef"));
    controller.external = false;
    CHECK(problem(known).contains("cannot be served"));
    controller.meta.deleting = true;
    CHECK(problem(known).contains("being deleted"));
    known.controllers.clear();
    CHECK(problem(known).contains("There is no Controller slurm"));
    CHECK(
        problem(known_with(node_set(1, R"(, "scalingMode": "DaemonSet")"), {}))
            .contains("needs the list of Nodes"));
    CHECK(problem(known_with(node_set(1, R"(, "template": {"spec":
                             {"hostNetwork": true}})"),
                             {}))
              .contains("hostNetwork"));
}

TEST_CASE("an absent Controller deletes nobody, and keeps what was asked")
{
    Known known = known_with(node_set(1), {worker(0)});
    known.controllers.clear();
    CHECK(whats(decided(known)) == "");
}

TEST_CASE("what the API server refuses is said while it is refused")
{
    Known known = known_with(node_set(1), {});
    Failures failures{{"create Pod w-0", "no room"},
                      {"create Pod w-9", "long ago"}};
    CHECK(said(decided(known, "w", failures), "Failing") ==
          "True: Cannot create Pod w-0: no room");
    CHECK(said(decided(known, "w", {{"create Pod w-9", "long ago"}}), "Failing")
              .starts_with("False"));
}

TEST_CASE("each field that is not served is named")
{
    auto steps = decided(
        known_with(node_set(1, R"(, "partition": {"enabled": true}, "logfile":
            {"image": "x"}, "ssh": {"enabled": true}, "minReadySeconds": 5, "updateStrategy":
            {"type": "OnDelete"})"),
                   {}));
    std::string text = said(steps, "Served");
    for (const char *word : {"partition", "logfile", "ssh"})
        CHECK_MESSAGE(text.contains(word), word);
    CHECK_FALSE(text.contains("updateStrategy"));
    CHECK(said(decided(known_with(
                   node_set(1, R"(, "updateStrategy": {"type": "OnDelete"})"),
                   {})),
               "Served") == "True: All that the spec asks for.");
}

TEST_CASE("an external Controller gets the Service of its NodeSets, once")
{
    Known known = known_with(node_set(1), {});
    Controller controller = known.controllers.begin()->second;
    auto steps = decide_controller(known, controller, {}, now);
    CHECK(whats(steps) == "apply Service slurm-workers-slurm; apply "
                          "PodDisruptionBudget slurm-workers-pdb-slurm");
    REQUIRE(steps.size() == 3);
    Service service = service_from(json(steps[1].body));
    known.services[service.meta.key] = service;
    Budget budget = budget_from(json(steps[2].body));
    known.budgets[budget.meta.key] = budget;
    CHECK(whats(decide_controller(known, controller, {}, now)) == "");
    known.services.clear();
    known.node_sets.clear();
    CHECK(whats(decide_controller(known, controller, {}, now)) == "");
}

TEST_CASE("other kinds say that they are not served")
{
    Unserved object = unserved_from(json(
        R"({"kind": "LoginSet", "metadata": {"namespace": "ns", "name": "l",
            "generation": 2}})"));
    auto steps = decide_unserved({}, object, {}, now);
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].path.starts_with("/apis/slinky.slurm.net/v1beta1/"
                                    "namespaces/ns/loginsets/l/status?"));
    CHECK(json(steps[0].body).text("status/selector") ==
          "app.kubernetes.io/instance=l,app.kubernetes.io/name=login");
    CHECK(said(steps, "Served").starts_with("False: The kind LoginSet"));
}
