// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/removal.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

using Names = std::vector<std::string>;

SlurmNode node(const std::string &name, const std::string &features = "k8s",
               std::uint32_t cpus = 16)
{
    SlurmNode made;
    made.name = name;
    made.features = features;
    made.cpus = cpus;
    made.memory = MebiBytes{1000};
    return made;
}

NodeUse waiting(const std::string &features = "k8s")
{
    NodeUse use;
    use.pending = true;
    use.features = features;
    return use;
}

NodeUse naming(const std::string &name)
{
    NodeUse use;
    use.named = {name};
    return use;
}

} // namespace

TEST_CASE("idle is what nobody has but our shadows, or will have soon")
{
    SlurmNode one = node("n1");
    CHECK(is_idle(one));
    one.allocated_cpus = 2;
    CHECK_FALSE(is_idle(one));
    CHECK(is_idle(one, 2));
    one.completing = true;
    CHECK_FALSE(is_idle(one, 2));
    one = node("n1");
    one.reserved = true;
    CHECK_FALSE(is_idle(one));
}

TEST_CASE("where nobody waits every node may go that nobody names")
{
    std::vector<SlurmNode> known = {node("n1"), node("n2"), node("n3")};
    Names all = {"n1", "n2", "n3", "unknown"};
    CHECK(removable(all, known, {}, {}) == Names{"n1", "n2", "n3"});
    CHECK(removable(all, known, {naming("n2")}, {}) == Names{"n1", "n3"});
    NodeUse over = naming("n2");
    over.over = true;
    CHECK(removable(all, known, {over}, {}) == Names{"n1", "n2", "n3"});
    CHECK(removable(all, known, {}, {{"r", {"n1", "n3"}, false, {}, {}}}) ==
          Names{"n2"});
}

TEST_CASE("where jobs wait one that can stand in for it stays")
{
    Names all = {"n1", "n2"};
    CHECK(removable(all, {node("n1"), node("n2")}, {waiting()}, {}) ==
          Names{"n1"});
    CHECK(
        removable({"n1"}, {node("n1", "gpu,k8s"), node("n2")}, {waiting()}, {})
            .empty());
    CHECK(removable({"n1"}, {node("n1"), node("n2", "gpu,k8s")}, {waiting()},
                    {}) == Names{"n1"});
    CHECK(removable({"n1"}, {node("n1"), node("n2", "k8s", 8)}, {waiting()}, {})
              .empty());
    SlurmNode drained = node("n2");
    drained.drained = true;
    CHECK(removable({"n1"}, {node("n1"), drained}, {waiting()}, {}).empty());
}

TEST_CASE("an ordinary job that waits keeps no external node in Slurm")
{
    NodeUse ordinary = waiting("");
    ordinary.external = false;
    CHECK(removable({"n1"}, {node("n1")}, {ordinary}, {}) == Names{"n1"});
    CHECK(removable({"n1"}, {node("n1")}, {ordinary, waiting()}, {}).empty());
    ordinary.named = {"n1"}; // it fails when slurmctld starts without the node
    CHECK(removable({"n1"}, {node("n1")}, {ordinary}, {}).empty());
}

TEST_CASE("who waits for the node's own feature names it")
{
    std::vector<SlurmNode> known = {node("n1", "k8s,k8s-node-n1"), node("n2"),
                                    node("n11", "k8s,k8s-node-n11")};
    CHECK(removable({"n1"}, known, {waiting("k8s&k8s-node-n1")}, {}).empty());
    CHECK(removable({"n1"}, known, {waiting("(a|k8s-node-n1)")}, {}).empty());
    CHECK(removable({"n1"}, known, {waiting("k8s&k8s-node-n11")}, {}) ==
          Names{"n1"});
    NodeUse shadow = waiting("k8s-node-n1");
    shadow.shadow_of = "n1"; // ours: it goes before the node does
    CHECK(removable({"n1"}, known, {shadow}, {}) == Names{"n1"});
}
