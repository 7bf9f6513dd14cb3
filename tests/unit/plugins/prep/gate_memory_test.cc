// SPDX-License-Identifier: GPL-2.0-or-later
// What a gate knows of nodes after a start, and when control changes.
#include "plugins/prep/gate.h"

#include "tests/unit/plugins/prep/gate_bed.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("what must be remembered shares the list of nodes with the gate")
{
    Gate gate(split);
    gate.bridge("n1,n2,n3");

    GateMemory before = *gate.memory(), after = *gate.memory();

    CHECK(&*before.bridge.begin() == &*after.bridge.begin());
}

TEST_CASE("after a start bridge nodes are unknown until synced, others never")
{
    Gate gate(split);
    gate.remember({{"n1", "n2"}, {}});

    CHECK(gate.prolog(ordinary(1, "n1")));
    CHECK(gate.prolog(ordinary(2, "n2,n3")));
    CHECK_FALSE(gate.prolog(ordinary(3, "n3")));
    CHECK(gate.make_message({Hook::prolog, ordinary(2, "").job})->dirty ==
          "n2");
    gate.bridge("n1,n2");
    CHECK_FALSE(gate.has_due());
    gate.synced("n2");

    CHECK(gate.pop_due() == Due{{Hook::prolog, 1, 0}});
    CHECK(gate.prolog(ordinary(4, "n2")));
    CHECK_FALSE(gate.prolog(ordinary(5, "n1")));
}

TEST_CASE("a node that is a bridge node no more is not unknown")
{
    Gate gate(split);
    gate.remember({{"n1", "n2"}, {}});
    gate.prolog(ordinary(1, "n1"));

    gate.bridge("n2");

    CHECK(gate.pop_due() == Due{{Hook::prolog, 1, 0}});
}

TEST_CASE("without memory nothing is unknown")
{
    Gate gate(split);
    gate.remember({});

    CHECK_FALSE(gate.prolog(ordinary(1, "n1")));
}

TEST_CASE("unknown nodes are given up after the timeout, dirty ones are not")
{
    const auto t0 = Gate::Clock::time_point{} + 1h;
    Gate gate(split);
    gate.remember({{"n1", "n2"}, {"n2"}});
    gate.give_up_unknown(t0, 10s); // nobody has waited yet
    gate.prolog(ordinary(1, "n1"), t0);
    gate.prolog(ordinary(2, "n2"), t0);

    gate.give_up_unknown(t0 + 9s, 10s);
    CHECK_FALSE(gate.has_due());
    gate.give_up_unknown(t0 + 10s, 10s);

    CHECK(gate.pop_due() == Due{{Hook::prolog, 1, 0}});
    CHECK_FALSE(gate.prolog(ordinary(3, "n1"), t0 + 11s));
    CHECK(gate.prolog(ordinary(4, "n2"), t0 + 11s));
}

TEST_CASE("the memory has the dirty nodes of both kinds")
{
    Gate gate(split);
    gate.bridge("n1,n2,n3");
    gate.synced("n1");
    gate.epilog(ours(1, "n2"));
    CHECK(gate.memory() == GateMemory{{"n1", "n2", "n3"}, {"n1", "n2"}});

    gate.clean(ours(1, "").job);
    gate.synced("");
    CHECK(gate.memory() == GateMemory{{"n1", "n2", "n3"}, {}});
}

TEST_CASE("without its memory every node is unknown until the agent says which")
{
    Gate gate(split);
    gate.remember_nothing();
    CHECK(gate.prolog(ordinary(1, "n1")));
    CHECK(gate.prolog(ordinary(2, "n2")));
    CHECK_FALSE(gate.memory()); // it must not be written down

    gate.bridge("n1");
    CHECK(gate.pop_due() == Due{{Hook::prolog, 2, 0}});
    CHECK(gate.memory() == GateMemory{{"n1"}, {}});
    gate.synced("");
    CHECK(gate.pop_due() == Due{{Hook::prolog, 1, 0}});
}

TEST_CASE("without its memory nothing is drained, and all opens in the end")
{
    const auto t0 = Gate::Clock::time_point{} + 1h;
    Gate gate(split);
    gate.remember_nothing();
    gate.prolog(ordinary(1, "n1"), t0);

    CHECK(gate.overdue(t0 + 1h, 10s).empty());
    gate.give_up_unknown(t0 + 10s, 10s);

    CHECK(gate.pop_due() == Due{{Hook::prolog, 1, 0}});
    CHECK_FALSE(gate.memory()); // still nobody has said
}

TEST_CASE("when control is lost, nothing is held, due or known any more")
{
    Gate gate(split);
    gate.bridge("n1,n2");
    gate.synced("n1");
    gate.prolog(ours(1, "n1"));
    gate.epilog(ours(2, "n2"));
    gate.prolog(ordinary(3, "n2"));
    gate.start(ours(1, "").job);

    gate.drop_all();

    CHECK(gate.held().empty());
    CHECK(gate.pop_due().empty());
    CHECK(gate.memory() == GateMemory{});
    gate.clean(ours(2, "").job);
    CHECK_FALSE(gate.has_due());
    gate.remember({{"n1"}, {}}); // of the slurmctld that was in control
    CHECK(gate.prolog(ours(1, "n1")));
    gate.start(ours(1, "").job);
    CHECK(gate.pop_due() == Due{{Hook::prolog, 1, 0}}); // one callback
    CHECK(gate.prolog(ordinary(3, "n1")));
}

TEST_CASE("a doubt that was wrong changes no hook, but lists are asked again")
{
    Gate gate(split);
    gate.bridge("n1");
    gate.synced("");
    gate.prolog(ours(1, "n1"));
    gate.prolog(ours(2, "n1"));
    gate.start(ours(2, "").job);

    gate.begin_doubt();
    CHECK(gate.prolog(ordinary(3, "n1"))); // n1 is unknown
    gate.end_doubt(false);

    CHECK(gate.held().size() == 2);
    gate.start(ours(1, "").job);
    gate.synced("");
    CHECK(gate.pop_due() == Due{{Hook::prolog, 2, 0},
                                {Hook::prolog, 1, 0},
                                {Hook::prolog, 3, 0}});
}

TEST_CASE("a new term of control keeps only the hooks that came with it")
{
    Gate gate(split);
    gate.bridge("n1,n2");
    gate.synced("");
    gate.prolog(ours(1, "n1"));
    gate.prolog(ours(2, "n1"));
    gate.prolog(ours(3, "n1"));
    gate.epilog(ours(4, "n2"));
    gate.start(ours(3, "").job); // its callback was not made

    gate.begin_doubt();
    CHECK(gate.prolog(ours(1, "n1"))); // of the takeover
    CHECK(gate.prolog(ours(4, "n2"))); // whose end was not saved
    CHECK(gate.prolog(ordinary(5, "n2")));
    gate.end_doubt(true);

    CHECK(gate.held() == std::vector<Hold>{{Hook::prolog, ours(1, "").job},
                                           {Hook::prolog, ours(4, "").job},
                                           {Hook::prolog, ours(5, "").job}});
    CHECK_FALSE(gate.has_due());
    gate.start(ours(1, "").job);
    gate.clean(ours(4, "").job);
    CHECK(gate.pop_due() == Due{{Hook::prolog, 1, 0}});
    gate.synced(""); // n2 is dirty no more: that epilog is nobody's
    CHECK(gate.pop_due() == Due{{Hook::prolog, 5, 0}});
}
