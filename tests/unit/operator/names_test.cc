// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/names.h"
#include "tests/unit/operator/make.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

NodeSet named(const std::string &name, const std::string &hostname = {},
              int replicas = 1)
{
    return node_set(
        replicas,
        R"(, "template": {"spec": {"hostname": ")" + hostname + "\"}}", name);
}

} // namespace

TEST_CASE("Pods and Slurm nodes are named by ordinal")
{
    CHECK(worker_name(named("w"), 3) == "w-3");
    CHECK(node_name(named("w"), 3) == "w-3");
    CHECK(node_name(named("w", "web-"), 3) == "web-3");
    NodeSet padded = node_set(1, R"(, "ordinalPadding": 3)");
    CHECK(worker_name(padded, 3) == "w-003");
    CHECK(worker_name(padded, 12345) == "w-12345");
}

TEST_CASE("only a Pod's exact name has its ordinal")
{
    NodeSet set = named("w");
    CHECK(ordinal_of(set, "w-3") == 3u);
    for (const char *name : {"w", "w-", "w-03", "w-+3", "w--3", "w-3x", "x-3",
                             "w-99999999999", "w-3-4"})
        CHECK_MESSAGE(!ordinal_of(set, name), name);
}

TEST_CASE("names that no host can have are refused")
{
    CHECK(wrong_names(named("w")).empty());
    CHECK(wrong_names(named("w", std::string(62, 'x'), 10)).empty());
    CHECK_FALSE(wrong_names(named("w", std::string(62, 'x'), 11)).empty());
    CHECK_FALSE(wrong_names(named(std::string(62, 'x'))).empty());
    for (const char *hostname : {"Web-", "a.b-", "-a", "a b", "a_", "\xc3\xa4"})
        CHECK_MESSAGE(!wrong_names(named("w", hostname)).empty(), hostname);
    NodeSet set = named("w");
    set.controller = std::string(60, 'c');
    CHECK(wrong_names(set).contains("Controller"));
}

TEST_CASE(
    "a NodeSet whose nodes could have the names of an older one is refused")
{
    auto other_of = [](const NodeSet &old, const NodeSet &young) {
        Known known = known_with(old, {});
        NodeSet later = young;
        later.meta.created = "2026-02-01T00:00:00Z";
        known.node_sets[later.meta.key] = later;
        CHECK(same_names(known, old) == "");
        return same_names(known, later);
    };
    CHECK(other_of(named("a"), named("b")) == "");
    CHECK(other_of(named("a", "x-"), named("b", "x-")) == "a");
    CHECK(other_of(named("a", "x-1"), named("b", "x-")) == "a");
    CHECK(other_of(named("a", "x-"), named("b", "x-1")) == "a");
    CHECK(other_of(named("a", "x-"), named("b", "x-1-")) == "");
    NodeSet fresh = named("a", "x-");
    fresh.finalizers.clear(); // older, but not accepted yet
    Known known = known_with(fresh, {});
    known.node_sets[{"ns", "b"}] = named("b", "x-");
    CHECK(same_names(known, fresh) == "b");
    CHECK(same_names(known, known.node_sets[{"ns", "b"}]) == "");
    NodeSet elsewhere = named("b", "x-");
    elsewhere.controller = "another";
    CHECK(other_of(named("a", "x-"), elsewhere) == "");
}

TEST_CASE("two namespaces of one slurmctld share its names of nodes")
{
    Known known = known_with(named("w"), {});
    Controller controller = external_controller();
    controller.meta.key.ns = "another";
    known.controllers[controller.meta.key] = controller;
    NodeSet other = named("w");
    other.meta.key.ns = "another";
    other.meta.created = "2026-02-01T00:00:00Z";
    known.node_sets[other.meta.key] = other;
    CHECK(same_names(known, other) == "ns/w");
    CHECK(same_names(known, named("w")) == "");
    known.controllers[controller.meta.key].port = 7000;
    CHECK(same_names(known, other) == "");
    known.controllers.erase(controller.meta.key);
    CHECK(same_names(known, other) == "");
}
