// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/gate.h"

#include "tests/unit/plugins/prep/gate_bed.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("a prolog of ours is held until start")
{
    Gate gate(split);

    CHECK(gate.prolog(ours(1, "n1")));
    CHECK(gate.pop_due().empty());
    gate.start(ours(1, "n1").job);

    CHECK(gate.pop_due() == Due{{Hook::prolog, 1, 0}});
    CHECK(gate.held().empty());
}

TEST_CASE("an ordinary job on clean nodes is never held")
{
    Gate gate(split);

    CHECK_FALSE(gate.prolog(ordinary(1, "n1")));
    CHECK_FALSE(gate.epilog(ordinary(1, "n1")));

    CHECK(gate.held().empty());
    CHECK_FALSE(gate.has_due());
}

TEST_CASE("what is said of another life of the same JobId does nothing")
{
    Gate gate(split);
    gate.prolog(ours(1, "n1"));
    gate.epilog(ours(2, "n2"));

    gate.start({1, Sluid{999}});
    gate.fail({1, Sluid{999}}, 256);
    gate.clean({2, Sluid{999}});

    CHECK_FALSE(gate.has_due());
    CHECK(gate.held().size() == 2);
}

TEST_CASE("start opens a prolog once, however often it is said")
{
    Gate gate(split);
    gate.prolog(ours(1, "n1"));

    gate.start(ours(1, "").job);
    gate.start(ours(1, "").job);

    CHECK(gate.pop_due().size() == 1);
}

TEST_CASE("fail opens a prolog with a status that slurmctld takes for failure")
{
    struct {
        int said, told;
    } table[] = {{256, 256}, {7 << 8, 7 << 8}, {0, 256}, {9, 256}};
    for (auto [said, told] : table) {
        CAPTURE(said);
        Gate gate(split);
        gate.prolog(ours(1, "n1"));

        gate.fail(ours(1, "").job, said);

        CHECK(gate.pop_due() == Due{{Hook::prolog, 1, told}});
    }
}

TEST_CASE("an epilog of ours is held until clean")
{
    Gate gate(split);

    CHECK(gate.epilog(ours(1, "n1")));
    CHECK_FALSE(gate.has_due());
    gate.clean(ours(1, "").job);
    gate.clean(ours(1, "").job);

    CHECK(gate.pop_due() == Due{{Hook::epilog, 1, 0}});
    CHECK(gate.held().empty());
}

TEST_CASE("a repeated hook is held again and owed one more callback")
{
    Gate gate(split);

    CHECK(gate.prolog(ours(1, "n1")));
    CHECK(gate.prolog(ours(1, "n1")));
    CHECK(gate.epilog(ours(2, "n2")));
    CHECK(gate.epilog(ours(2, "n2")));
    CHECK(gate.held().size() == 2);
    gate.start(ours(1, "").job);
    gate.clean(ours(2, "").job);

    CHECK(gate.pop_due() == Due{{Hook::prolog, 1, 0},
                                {Hook::prolog, 1, 0},
                                {Hook::epilog, 2, 0},
                                {Hook::epilog, 2, 0}});
}

TEST_CASE("a prolog repeated after its start is held until the next start")
{
    Gate gate(split);
    gate.prolog(ours(1, "n1"));
    gate.start(ours(1, "").job);

    CHECK(gate.prolog(ours(1, "n1")));
    gate.start(ours(1, "").job);

    CHECK(gate.pop_due().size() == 2);
}

TEST_CASE("a job that ends while its prolog is held is owed both callbacks")
{
    Gate gate(split);
    gate.prolog(ours(1, "n1"));

    CHECK(gate.epilog(ours(1, "n1")));
    CHECK(gate.pop_due() == Due{{Hook::prolog, 1, 0}});
    gate.start(ours(1, "").job);
    CHECK_FALSE(gate.has_due());
    gate.clean(ours(1, "").job);

    CHECK(gate.pop_due() == Due{{Hook::epilog, 1, 0}});
}

TEST_CASE("a prolog that comes after its job's epilog is not held")
{
    Gate gate(split);
    gate.epilog(ours(1, "n1"));
    gate.epilog(ordinary(2, "n1"));

    CHECK_FALSE(gate.prolog(ours(1, "n1")));
    CHECK_FALSE(gate.prolog(ordinary(2, "n1")));
    gate.clean(ours(1, "").job);
    CHECK_FALSE(gate.prolog(ours(1, "n1")));
}

TEST_CASE("the next run of a job without SLUID is no late prolog")
{
    Gate gate(split);
    JobFacts facts{{1, Sluid{}}, "n1", true};
    gate.epilog(facts);
    gate.clean(facts.job);

    CHECK(gate.prolog(facts));
}

TEST_CASE("the epilog of a job of ours makes its nodes dirty until clean")
{
    Gate gate(split);
    gate.epilog(ours(1, "n1,n2"));

    CHECK(gate.prolog(ordinary(2, "n2,n3")));
    CHECK_FALSE(gate.prolog(ordinary(3, "n3")));
    CHECK_FALSE(gate.has_due());
    gate.clean(ours(1, "").job);

    CHECK(gate.pop_due() == Due{{Hook::epilog, 1, 0}, {Hook::prolog, 2, 0}});
    CHECK_FALSE(gate.prolog(ordinary(4, "n2")));
}

TEST_CASE("a node is dirty until the last of its jobs is clean")
{
    Gate gate(split);
    gate.epilog(ours(1, "n1"));
    gate.epilog(ours(2, "n1"));
    gate.prolog(ordinary(3, "n1"));

    gate.clean(ours(1, "").job);
    CHECK(gate.pop_due() == Due{{Hook::epilog, 1, 0}});
    gate.clean(ours(2, "").job);

    CHECK(gate.pop_due() == Due{{Hook::epilog, 2, 0}, {Hook::prolog, 3, 0}});
}

TEST_CASE("clean nodes do not open a prolog of ours, start does")
{
    Gate gate(split);
    gate.epilog(ours(1, "n1"));
    gate.prolog(ours(2, "n1"));

    gate.clean(ours(1, "").job);
    CHECK(gate.pop_due() == Due{{Hook::epilog, 1, 0}});
    gate.start(ours(2, "").job);

    CHECK(gate.pop_due() == Due{{Hook::prolog, 2, 0}});
}

TEST_CASE("start opens early: the agent has seen that there is room")
{
    for (bool mine : {true, false}) {
        CAPTURE(mine);
        JobFacts early = mine ? ours(2, "n1") : ordinary(2, "n1");
        JobFacts waits = mine ? ours(3, "n1") : ordinary(3, "n1");
        Gate gate(split);
        gate.epilog(ours(1, "n1"));
        gate.prolog(early);
        gate.prolog(waits);

        gate.start(early.job);
        gate.start(early.job);

        CHECK(gate.pop_due() == Due{{Hook::prolog, 2, 0}});
        CHECK(gate.held() == std::vector<Hold>{{Hook::epilog, ours(1, "").job},
                                               {Hook::prolog, waits.job}});
    }
}

TEST_CASE("fail opens a prolog on a dirty node too")
{
    Gate gate(split);
    gate.epilog(ours(1, "n1"));
    gate.prolog(ordinary(2, "n1"));

    gate.fail(ordinary(2, "").job, 256);

    CHECK(gate.pop_due() == Due{{Hook::prolog, 2, 256}});
}

TEST_CASE("synced replaces the nodes that are dirty without a held epilog")
{
    Gate gate(split);
    gate.synced("n1,n2");

    CHECK(gate.prolog(ordinary(1, "n1")));
    CHECK(gate.prolog(ordinary(2, "n2")));
    gate.synced("n2");
    CHECK(gate.pop_due() == Due{{Hook::prolog, 1, 0}});
    gate.synced("");

    CHECK(gate.pop_due() == Due{{Hook::prolog, 2, 0}});
}

TEST_CASE("synced cleans no node whose epilog is held")
{
    Gate gate(split);
    gate.epilog(ours(1, "n1"));

    gate.synced("");

    CHECK(gate.prolog(ordinary(2, "n1")));
}

TEST_CASE("a list in several parts counts when the last is there")
{
    Gate gate(split);
    gate.synced("n1", true);
    CHECK_FALSE(gate.prolog(ordinary(1, "n1")));
    gate.synced("n2");
    CHECK(gate.prolog(ordinary(2, "n1")));
    CHECK(gate.prolog(ordinary(3, "n2")));

    gate.bridge("n1", true);
    gate.bridge("n2", true);
    CHECK(gate.memory()->bridge.empty());
    gate.bridge("n3");
    CHECK(gate.memory()->bridge == NodeSet{"n1", "n2", "n3"});
}

TEST_CASE("what one agent said in part is no part of the next one's list")
{
    Gate gate(split);
    gate.bridge("n1", true);
    gate.synced("n1", true);

    gate.forget_parts();
    gate.bridge("n2");
    gate.synced("n2");

    CHECK(gate.memory() == GateMemory{{"n2"}, {"n2"}});
}

TEST_CASE("an ordinary job is overdue when a dirty node kept it too long")
{
    const auto t0 = Gate::Clock::time_point{} + 1h;
    Gate gate(split);
    gate.epilog(ours(1, "n1"), t0);
    gate.synced("n2");
    gate.prolog(ordinary(2, "n1,n2,n3"), t0);
    gate.prolog(ordinary(3, "n1"), t0 + 5s);

    CHECK(gate.overdue(t0 + 9s, 10s).empty());
    CHECK(gate.overdue(t0 + 10s, 10s) ==
          std::vector<Gate::Overdue>{{ordinary(2, "").job, {"n1", "n2"}}});
    gate.fail(ordinary(2, "").job, 256);
    CHECK(gate.overdue(t0 + 10s, 10s).empty());
    CHECK(gate.overdue(t0 + 15s, 10s).size() == 1);
    CHECK(gate.pop_due() == Due{{Hook::prolog, 2, 256}}); // no epilog
}

TEST_CASE("neither a job of ours nor an unknown node is ever overdue")
{
    const auto t0 = Gate::Clock::time_point{} + 1h;
    Gate gate(split);
    gate.remember({{"n1", "n2"}, {"n2"}});
    gate.prolog(ordinary(1, "n1"), t0);
    gate.prolog(ours(2, "n2"), t0);

    CHECK(gate.overdue(t0 + 1h, 10s).empty());
}

TEST_CASE("everything unfinished is listed again, epilogs first")
{
    Gate gate(split);
    gate.prolog(ours(1, "n1"));
    gate.epilog(ours(2, "n2"));
    gate.prolog(ours(3, "n3"));
    gate.start(ours(3, "").job);

    CHECK(gate.held() == std::vector<Hold>{{Hook::epilog, ours(2, "").job},
                                           {Hook::prolog, ours(1, "").job}});
}

TEST_CASE("a held prolog is told with its nodes and those that are dirty")
{
    Gate gate(split);
    gate.epilog(ours(1, "n1,n2"));
    gate.prolog(ours(2, "n1,n2,n3"));
    gate.prolog(ordinary(3, "n2"));

    auto mine = gate.make_message({Hook::prolog, ours(2, "").job});
    auto other = gate.make_message({Hook::prolog, ordinary(3, "").job});

    REQUIRE(mine);
    CHECK(mine->type == HookMessage::Type::allocated);
    CHECK(mine->job == JobRef{2, Sluid{102}});
    CHECK(mine->nodes == "n1,n2,n3");
    CHECK(mine->dirty == "n1,n2");
    CHECK(mine->ours);
    REQUIRE(other);
    CHECK(other->dirty == "n2");
    CHECK_FALSE(other->ours);
}

TEST_CASE("a held epilog is told with its nodes, and nothing once it is over")
{
    Gate gate(split);
    gate.epilog(ours(1, "n1"));

    auto ended = gate.make_message({Hook::epilog, ours(1, "").job});
    gate.clean(ours(1, "").job);

    REQUIRE(ended);
    CHECK(ended->type == HookMessage::Type::ended);
    CHECK(ended->job == ours(1, "").job);
    CHECK(ended->nodes == "n1");
    CHECK_FALSE(gate.make_message({Hook::epilog, ours(1, "").job}));
}

TEST_CASE("a job of ours without nodes is held like any other")
{
    Gate gate(split);

    CHECK(gate.epilog(ours(1, "")));
    CHECK_FALSE(gate.prolog(ordinary(2, "n1")));
}

TEST_CASE("a job that ends while its prolog is being failed is not requeued")
{
    Gate gate(split);
    gate.synced("n1");
    gate.prolog(ordinary(1, "n1"));
    gate.prolog(ordinary(2, "n1"));
    gate.fail(ordinary(1, "").job, 256);
    gate.fail(ordinary(2, "").job, 256);

    gate.epilog(ordinary(1, "n1")); // it was cancelled meanwhile

    CHECK(gate.pop_one_due() == Release{Hook::prolog, 1, 0});
    CHECK(gate.pop_one_due() == Release{Hook::prolog, 2, 256});
    CHECK_FALSE(gate.pop_one_due());
}

TEST_CASE("lists of nodes are cut so that a packet never is too long")
{
    std::string nodes;
    for (int i = 0; nodes.size() <= 2 * max_packet; i++)
        nodes += (i == 0 ? "node" : ",node") + std::to_string(i);
    Gate gate(split);
    gate.bridge(nodes);
    gate.synced(nodes);
    REQUIRE(gate.prolog(ours(1, nodes)));
    REQUIRE(gate.epilog(ours(2, nodes)));

    auto prolog = gate.make_message({Hook::prolog, ours(1, "").job});
    auto epilog = gate.make_message({Hook::epilog, ours(2, "").job});

    REQUIRE(prolog);
    REQUIRE(epilog);
    CHECK(encode(*prolog).size() <= max_packet);
    CHECK(encode(*epilog).size() <= max_packet);
    CHECK(prolog->dirty.starts_with("node0,node1,"));
    CHECK(prolog->nodes.starts_with("node0,node1,"));
    CHECK_FALSE(prolog->nodes.ends_with(','));
}
