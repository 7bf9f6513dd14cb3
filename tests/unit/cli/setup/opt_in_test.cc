// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/opt_in.h"

#include "common/contract/names.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

Node node_named(const std::string &name)
{
    Node node;
    node.name = name;
    return node;
}

Node given()
{
    Node node = node_named("n1");
    node.labels = {{names::external_node_label, "true"}, {"other", "1"}};
    node.taints = {{names::managed_node_taint, "", "NoSchedule"},
                   {"theirs", "", "NoExecute"}};
    return node;
}

} // namespace

TEST_CASE("a Node gets the taint first, and then the label")
{
    CHECK(opt_in(node_named("n1")) ==
          Commands{{"taint", "node", "n1",
                    "slinky.slurm.net/managed-node=:NoSchedule"},
                   {"label", "node", "n1", "--overwrite",
                    "scheduler.slinky.slurm.net/external-node=true"}});
    CHECK(opt_in(given()).empty());
}

TEST_CASE("a Node that has one of the two gets the other")
{
    Node node = given();
    node.taints.clear();
    CHECK(opt_in(node).size() == 1);
    CHECK(opt_in(node)[0][0] == "taint");
    node = given();
    node.labels[names::external_node_label] = "false";
    CHECK(opt_in(node).size() == 1);
    CHECK(opt_in(node)[0][0] == "label");
}

TEST_CASE("a Node is given back by its label, and all of ours goes at the end")
{
    Node node = given();
    node.annotations = {{names::external_node_partitions, "gpu"},
                        {"theirs", "1"}};

    CHECK(opt_out(node) ==
          Commands{{"label", "node", "n1",
                    "scheduler.slinky.slurm.net/external-node-"}});
    CHECK(clean(node) ==
          Commands{{"label", "node", "n1",
                    "scheduler.slinky.slurm.net/external-node-"},
                   {"annotate", "node", "n1",
                    "scheduler.slinky.slurm.net/external-node-partitions-"},
                   {"taint", "node", "n1", "slinky.slurm.net/managed-node-"}});
    CHECK(opt_out(node_named("n2")).empty());
    CHECK(clean(node_named("n2")).empty());
}

TEST_CASE("a Namespace gets what it lacks")
{
    Namespace ns{"physics", {}, {{names::namespace_user, "alice"}}};
    NamespaceWish wish{"physics", "alice", "physics"};

    CHECK(opt_in(ns, wish) ==
          Commands{{"annotate", "namespace", "physics", "--overwrite",
                    "slurmk8s/account=physics"}});
    wish.account.clear();
    CHECK(opt_in(ns, wish).empty());
    wish.user = "bob";
    CHECK(opt_in(ns, wish) == Commands{{"annotate", "namespace", "physics",
                                        "--overwrite", "slurmk8s/user=bob"}});
}

TEST_CASE("a Namespace is cleaned of ours")
{
    Namespace ns{"physics",
                 {{adopt_label, "true"}, {"other", "1"}},
                 {{names::namespace_user, "alice"},
                  {names::namespace_qos, "high"},
                  {"theirs", "1"}}};
    CHECK(end_adoption(ns) ==
          Commands{{"label", "namespace", "physics", "slurmk8s/adopt-"}});
    CHECK(clean(ns) ==
          Commands{{"label", "namespace", "physics", "slurmk8s/adopt-"},
                   {"annotate", "namespace", "physics", "slurmk8s/user-",
                    "slurmk8s/qos-"}});
    CHECK(clean(Namespace{"other", {}, {}}).empty());
}

TEST_CASE("whose a Namespace is is one word")
{
    auto wish = parse_namespace_wish("physics=alice:acct");
    REQUIRE(wish.has_value());
    CHECK(wish->name == "physics");
    CHECK(wish->user == "alice");
    CHECK(wish->account == "acct");
    CHECK(parse_namespace_wish("physics=alice")->account.empty());
    for (const char *text : {"", "physics", "physics=", "=alice",
                             "physics=a:", "--all=alice", "Physics=alice"})
        CHECK_FALSE(parse_namespace_wish(text).has_value());
}
