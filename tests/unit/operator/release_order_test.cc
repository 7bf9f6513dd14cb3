// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/decide.h"
#include "operator/decide/json_merge.h"
#include "operator/decide/release_order.h"
#include "tests/unit/operator/make_cluster.h"

#include <doctest/doctest.h>
#include <optional>
#include <string>

using namespace bridge;
using namespace bridge::slinky;

namespace {

Controller controller(const std::string &tag,
                      const std::string &more = R"(, "accountingRef":
                          {"name": "db"})")
{
    Controller made = inside(more, held);
    made.spec = read_own(merged(
        made.spec,
        json(R"({"slurmctld": {"image": "r:5000/ctld:)" + tag + "\"}}")));
    return made;
}

Unserved accounting(const std::string &tag)
{
    return unserved_from(json(R"({"kind": "Accounting",
        "metadata": {"namespace": "ns", "name": "db", "uid": "a-uid"},
        "spec": {"slurmKeyRef": {"name": "keys", "key": "slurm.key"},
        "jwtKeyRef": {"name": "jwts", "key": "jwt.key"},
        "slurmdbd": {"image": "dbd:)" +
                              tag + R"("},
        "storageConfig": {"host": "mariadb",
        "passwordKeyRef": {"name": "db", "key": "password"}}}})"));
}

NodeSet workers(const std::string &image)
{
    NodeSet made = node_set(1);
    made.spec = read_own(
        merged(made.spec, json(R"({"slurmd": {"image": ")" + image + "\"}}")));
    return made;
}

void set(Known &known, const Controller &made)
{
    known.controllers[made.meta.key] = made;
}

void set(Known &known, const Unserved &made)
{
    known.unserved[{"Accounting", made.meta.key}] = made;
}

Made &deployment(Known &known)
{
    return known.made[{"Deployment", {"ns", "db-accounting"}}];
}

std::string image_of(const Known &known, const char *kind, const char *name,
                     const char *container)
{
    return known.made.at({kind, {"ns", name}}).images.at(container);
}

std::string slurmctld_image(const Known &known)
{
    return image_of(known, "StatefulSet", "slurm-controller", "slurmctld");
}

std::string slurmk8sd_image(const Known &known)
{
    return image_of(known, "StatefulSet", "slurm-controller", "slurmk8sd");
}

// A cluster of release 25.11 that runs.
Known cluster()
{
    Known known = with(controller("25.11"));
    Unserved database = accounting("25.11");
    set(known, database);
    make(known, decide_accounting(known, database, {}, now));
    deployment(known).ready = 1;
    deployment(known).settled = true;
    settle(known);
    return known;
}

std::string updated_said(const std::vector<Step> &steps)
{
    return said(steps, "Updated");
}

} // namespace

TEST_CASE("a tag tells the release, or nothing")
{
    using R = std::optional<Release>;
    CHECK(release_of("a/slurmctld:26.05") == R({26, 5}));
    CHECK(release_of("a:5000/slurmctld:26.05.1-debian") == R({26, 5}));
    CHECK(release_of("slurmctld:25.11-ubuntu24.04@sha256:abc") == R({25, 11}));
    CHECK(release_of("slurmctld:0.1.0-1-slurm26.05.5") == R({26, 5}));
    for (const char *none :
         {"slurmctld", "slurmctld:latest", "a:26.05/slurmctld", "s:26.13",
          "s:26.051", "s:2.05", "s@sha256:26.05", "s:v26.05", "s:0.1-slurm2605",
          "s:0.1-slurm", ""}) {
        CAPTURE(none);
        CHECK_FALSE(release_of(none));
    }
    CHECK(Release{26, 5} > Release{25, 11});
    CHECK(Release{26, 5}.text() == "26.05");
}

TEST_CASE("slurmctld waits for slurmdbd, and says so")
{
    Known known = cluster();
    CHECK(slurmctld_image(known) == "r:5000/ctld:25.11");

    set(known, controller("26.05"));
    CHECK(updated_said(decided(known)) ==
          "False: slurmctld stays at 25.11 (r:5000/ctld:25.11) until slurmdbd "
          "of Accounting db runs with release 26.05.");
    settle(known);
    CHECK(slurmctld_image(known) == "r:5000/ctld:25.11");

    Unserved database = accounting("26.05");
    set(known, database);
    make(known, decide_accounting(known, database, {}, now));
    CHECK(image_of(known, "Deployment", "db-accounting", "slurmdbd") ==
          "dbd:26.05");
    CHECK(updated_said(decided(known)).starts_with("False")); // not there yet
    deployment(known).settled = true;
    deployment(known).ready = 1;
    settle(known);
    CHECK(slurmctld_image(known) == "r:5000/ctld:26.05");
    CHECK(updated_said(decided(known)).starts_with("True"));
}

TEST_CASE("slurmk8sd keeps its image as long as slurmctld waits")
{
    Known known = cluster();
    known.agent_image = "r/agent:0.1.0-1-slurm26.05.5";
    set(known, controller("26.05"));
    settle(known);
    CHECK(slurmctld_image(known) == "r:5000/ctld:25.11");
    CHECK(slurmk8sd_image(known) == "agent");
}

TEST_CASE("slurmk8sd does not get ahead of slurmctld")
{
    Known known = cluster();
    known.agent_image = "agent:25.11";
    settle(known);
    known.agent_image = "agent:26.05";
    settle(known);
    CHECK(slurmk8sd_image(known) == "agent:25.11");
    CHECK(updated_said(decided(known)) ==
          "False: slurmk8sd stays at 25.11 (agent:25.11) until slurmctld has "
          "release 26.05.");
    known.agent_image = "agent:25.05";
    settle(known);
    CHECK(slurmk8sd_image(known) == "agent:25.05");
}

TEST_CASE("slurmctld never gets an older release")
{
    Known known = cluster();
    set(known, controller("25.05"));
    settle(known);
    CHECK(slurmctld_image(known) == "r:5000/ctld:25.11");
    CHECK(updated_said(decided(known)) ==
          "False: slurmctld stays at 25.11 (r:5000/ctld:25.11): release 25.05 "
          "cannot read its state any more.");
}

TEST_CASE("what else is wished of a slurmctld that waits is made")
{
    Known known = cluster();
    set(known, controller("26.05", R"(, "accountingRef": {"name": "db"},
        "extraConf": "KillWait=47")"));
    settle(known);
    CHECK(slurmctld_image(known) == "r:5000/ctld:25.11");
    CHECK(known.made[{"ConfigMap", {"ns", "slurm-config"}}]
              .data["slurm.conf"]
              .contains("KillWait=47"));
}

TEST_CASE("without a slurmdbd of ours slurmctld waits for nobody")
{
    Known known = with(controller("25.11", ""));
    settle(known);
    set(known, controller("26.05", ""));
    settle(known);
    CHECK(slurmctld_image(known) == "r:5000/ctld:26.05");
}

TEST_CASE("slurmdbd never gets an older release")
{
    Known known = cluster();
    Unserved older = accounting("25.05");
    auto steps = decide_accounting(known, older, {}, now);
    CHECK(said(steps, "Updated").starts_with("False: slurmdbd stays at 25.11"));
    CHECK_FALSE(whats(steps).contains("Deployment"));
    CHECK(whats(decide_accounting(known, accounting("latest"), {}, now))
              .contains("Deployment"));
}

TEST_CASE("no worker comes, and none is replaced, before slurmctld has the "
          "release")
{
    Known known = cluster();
    NodeSet newer = workers("d:26.05");
    newer.replicas = 2;
    add(known, newer);
    Worker old = worker(0);
    old.meta.labels["controller-revision-hash"] = "older";
    known.workers[old.meta.key] = old;
    auto steps = decide_node_set(known, newer, {}, now);
    CHECK_FALSE(whats(steps).contains("create Pod"));
    CHECK_FALSE(whats(steps).contains("ask to drain"));
    CHECK(said(steps, "Updated").starts_with("False: Pods of release 26.05"));

    // The Pod of slurmctld is what counts, while there is one.
    auto &running = known.daemons[{"ns", "slurm-controller-0"}];
    running.image = "ctld:25.11";
    known.made[{"StatefulSet", {"ns", "slurm-controller"}}]
        .images["slurmctld"] = "ctld:26.05";
    steps = decide_node_set(known, newer, {}, now);
    CHECK_FALSE(whats(steps).contains("create Pod"));
    running.image = "ctld:26.05";
    steps = decide_node_set(known, newer, {}, now);
    CHECK(whats(steps).contains("create Pod w-1"));
}

TEST_CASE("workers wait for slurmctld, and nobody waits for older ones")
{
    Known known = cluster();
    const Controller &first = known.controllers.begin()->second;
    auto waits = [&](const std::string &image) {
        return slurmd_waits(known, first, workers(image));
    };
    CHECK(waits("d:26.05") ==
          "Pods of release 26.05 wait until slurmctld, which is at 25.11, has "
          "it.");
    CHECK(waits("d:25.11") == "");
    CHECK(waits("d:25.05") == "");
    CHECK(waits("d:latest") == "");
    Controller external = first;
    external.external = true;
    CHECK(slurmd_waits(known, external, workers("d:26.05")) == "");
}
