// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/claims.h"
#include "tests/unit/operator/make.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

constexpr Now now{std::chrono::seconds(1800000000)};

NodeSet with_template(int replicas, const std::string &policy = "{}")
{
    return node_set(replicas, R"(, "volumeClaimTemplates": [{"metadata":
        {"name": "data", "labels": {"a": "b"}}, "spec": {"storageClassName":
        "fast"}}], "persistentVolumeClaimRetentionPolicy": )" +
                                  policy);
}

Claim claim(int ordinal, bool owned = false)
{
    Claim made;
    std::string pod = "w-" + std::to_string(ordinal);
    made.meta.key = {"ns", "data-" + pod};
    made.meta.uid = "claim-uid";
    made.meta.version = "5";
    made.meta.labels = {{names::instance_label, "w"},
                        {names::worker_name_label, pod}};
    if (owned)
        made.owners = {"w-uid"};
    return made;
}

Known with_claims_of(const NodeSet &set, std::initializer_list<Worker> pods,
                     std::initializer_list<Claim> claims)
{
    Known known = known_with(set, pods);
    for (const Claim &one : claims)
        known.claims[one.meta.key] = one;
    return known;
}

std::vector<Step> steps_of(const NodeSet &set, const Known &known)
{
    auto steps = decide_node_set(known, set, {}, now);
    std::erase_if(steps, [](const Step &step) { return step.is_report; });
    return steps;
}

} // namespace

TEST_CASE("a Pod's claims are made before it, once, and stay when it is gone")
{
    NodeSet set = with_template(1);
    auto steps = steps_of(set, with_claims_of(set, {}, {}));
    CHECK(whats(steps) ==
          "create PersistentVolumeClaim data-w-0; create Pod w-0");
    Json made = json(steps[0].body);
    CHECK(made.text("spec/storageClassName") == "fast");
    CHECK(made.texts("metadata/labels")["a"] == "b");
    CHECK_FALSE(made.at("metadata/ownerReferences").present());
    CHECK(json(steps[1].body)
              .text("spec/volumes/0/persistentVolumeClaim/claimName") ==
          "data-w-0");
    CHECK(whats(steps_of(set, with_claims_of(set, {}, {claim(0)}))) ==
          "create Pod w-0");
    CHECK(whats(steps_of(set, with_claims_of(set, {worker(0)},
                                             {claim(0), claim(3)}))) == "");
}

TEST_CASE("a claim takes the place of the template's volume of its name")
{
    NodeSet set = node_set(1, R"(, "volumeClaimTemplates": [{"metadata":
        {"name": "data"}, "spec": {}}], "template": {"spec": {"volumes":
        [{"name": "data", "emptyDir": {}}, {"name": "more", "emptyDir": {}}]}})");
    Json pod = json(worker_pod(set, external_controller(), slot_of(set, 0)));
    std::string names;
    for (const Json &volume : pod.items("spec/volumes"))
        names += volume.text("name") + " ";
    CHECK(names == "data slurm-etc more ");
}

TEST_CASE("whenScaled Delete waits until no Pod is to come back")
{
    NodeSet set = with_template(1, R"({"whenScaled": "Delete"})");
    auto of = [&](std::initializer_list<Worker> pods) {
        return whats(
            steps_of(set, with_claims_of(set, pods, {claim(0), claim(1)})));
    };
    CHECK(of({worker(0)}) == "delete PersistentVolumeClaim data-w-1");
    CHECK(of({}) == "create Pod w-0");
    Worker going = worker(1);
    going.meta.deleting = true;
    CHECK(of({worker(0), going}) == "");
    Known known = with_claims_of(set, {}, {claim(1)});
    known.controllers.clear();
    CHECK(whats(steps_of(set, known)) == "");
}

TEST_CASE("whenDeleted Delete makes the NodeSet the owner, and Retain no more")
{
    NodeSet set = with_template(1, R"({"whenDeleted": "Delete"})");
    auto steps = steps_of(set, with_claims_of(set, {worker(0)}, {claim(0)}));
    REQUIRE(steps.size() == 1);
    Json body = json(steps[0].body);
    CHECK(body.text("metadata/ownerReferences/0/uid") == "w-uid");
    CHECK(body.text("metadata/resourceVersion") == "5");
    CHECK(whats(steps_of(
              set, with_claims_of(set, {worker(0)}, {claim(0, true)}))) == "");
    set = with_template(1);
    steps = steps_of(set, with_claims_of(set, {worker(0)}, {claim(0, true)}));
    REQUIRE(steps.size() == 1);
    CHECK(json(steps[0].body).at("metadata/ownerReferences").dump() == "null");
    Claim foreign = claim(0, true);
    foreign.owners.push_back("another");
    CHECK(whats(steps_of(set, with_claims_of(set, {worker(0)}, {foreign}))) ==
          "");
}

TEST_CASE("no Pod is made while its claim is being deleted, and one that waits "
          "for it goes")
{
    NodeSet set = with_template(2);
    Claim leaves = claim(0);
    leaves.meta.deleting = true;
    CHECK(whats(steps_of(set, with_claims_of(set, {}, {leaves}))) ==
          "create PersistentVolumeClaim data-w-1; create Pod w-1");

    Worker waits = worker(0);
    waits.node.clear();
    auto steps = steps_of(
        set, with_claims_of(set, {waits, worker(1)}, {leaves, claim(1)}));
    CHECK(whats(steps) == "delete Pod w-0");
    CHECK(json(steps[0].body).text("preconditions/uid") == waits.meta.uid);
    CHECK(steps[0].told->note ==
          "Deleted Pod w-0: it waits for PersistentVolumeClaim data-w-0, which "
          "is being deleted");

    // One that runs has the volume, and keeps it.
    Worker runs = worker(0);
    runs.node = "n1";
    CHECK(whats(steps_of(set, with_claims_of(set, {runs, worker(1)},
                                             {leaves, claim(1)}))) == "");
}

TEST_CASE("templates of which no claim can be made are refused in words")
{
    for (const char *wrong :
         {R"([{}])", R"([{"metadata": {"name": "A"}, "spec": {}}])",
          R"([{"metadata": {"name": "../x"}, "spec": {}}])",
          R"([{"metadata": {"name": "slurm-etc"}, "spec": {}}])",
          R"([{"metadata": {"name": "a"}}])",
          R"([{"metadata": {"name": "a"}, "spec": {}},
              {"metadata": {"name": "a"}, "spec": {}}])"}) {
        NodeSet set =
            node_set(1, std::string(R"(, "volumeClaimTemplates": )") + wrong);
        CHECK_MESSAGE(!wrong_claims(set).empty(), wrong);
        CHECK(whats(steps_of(set, known_with(set, {}))) == "");
    }
    for (const char *right : {"null", "[]", "{}", "7"})
        CHECK_MESSAGE(
            wrong_claims(
                node_set(1,
                         std::string(R"(, "volumeClaimTemplates": )") + right))
                .empty(),
            right);
}
