// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/gate.h"

#include "tests/unit/plugins/prep/gate_bed.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("a job waits until the nodes of slurmd Pods are protected")
{
    Gate gate(split);
    gate.unprotected("w1,w2", true);
    gate.unprotected("w3");

    CHECK_FALSE(gate.prolog(ordinary(1, "n1")));
    CHECK(gate.prolog(ordinary(2, "w1,w3")));
    auto said = gate.make_message({Hook::prolog, ordinary(2, "").job});
    REQUIRE(said.has_value());
    CHECK(said->unprotected);
    CHECK(said->dirty.empty());

    gate.unprotected("w2,w3");
    CHECK_FALSE(gate.has_due());
    gate.unprotected("w2");
    CHECK(gate.pop_due() == Due{{Hook::prolog, 2, 0}});
    CHECK_FALSE(gate.prolog(ordinary(3, "w1")));
}

TEST_CASE("nobody waits for protection for longer than two seconds")
{
    Gate gate(split);
    gate.unprotected("w1");
    Gate::Clock::time_point now{};
    CHECK(gate.prolog(ordinary(1, "w1"), now));
    CHECK(gate.prolog(ordinary(2, "w1"), now + 1s));
    CHECK(gate.next_unprotected() == now + 2s);

    gate.give_up_protection(now + 1999ms);
    CHECK_FALSE(gate.has_due());
    gate.give_up_protection(now + 2s);
    CHECK(gate.pop_due() == Due{{Hook::prolog, 1, 0}});
    CHECK(gate.next_unprotected() == now + 3s);
    gate.give_up_protection(now + 3s);
    CHECK(gate.pop_due() == Due{{Hook::prolog, 2, 0}});
    CHECK_FALSE(gate.next_unprotected().has_value());
}

TEST_CASE("a job that has waited for protection still waits for dirty nodes")
{
    Gate gate(split);
    gate.unprotected("w1");
    gate.synced("n1");
    CHECK(gate.prolog(ordinary(1, "w1,n1")));
    gate.give_up_protection(Gate::Clock::time_point{} + 2s);
    CHECK_FALSE(gate.has_due());
    gate.synced("");
    CHECK(gate.pop_due().size() == 1);
}

TEST_CASE("a job of ours waits for its start, not for protection")
{
    Gate gate(split);
    gate.unprotected("w1");
    CHECK(gate.prolog(ours(1, "w1")));
    gate.give_up_protection(Gate::Clock::time_point{} + 1h);
    CHECK_FALSE(gate.has_due());
    CHECK_FALSE(gate.next_unprotected().has_value());
    gate.start(ours(1, "").job);
    CHECK(gate.pop_due().size() == 1);
}

TEST_CASE("a job that ends while it waits for protection gets its callback")
{
    Gate gate(split);
    gate.unprotected("w1");
    CHECK(gate.prolog(ordinary(1, "w1")));
    CHECK_FALSE(gate.epilog(ordinary(1, "w1")));
    CHECK(gate.pop_due() == Due{{Hook::prolog, 1, 0}});
}
