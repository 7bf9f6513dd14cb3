// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/placement_table.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

using State = PlacementTable::State;
using std::chrono::seconds;

const Clock::time_point start = Clock::now();
const PlacementTable::Asker ann{"ann"}, bob{"bob"};

PredicatePtr with_label(const std::string &key)
{
    return *Predicate::make({{{{key, false, NodeOperator::exists, {}}}}}, {});
}

std::size_t wished(const PlacementTable &table)
{
    return table.wishes().size();
}

} // namespace

TEST_CASE("a predicate is unknown until a sync has asked for it")
{
    PlacementTable table;
    PredicatePtr gpu = with_label("gpu");

    CHECK(table.need(gpu, ann, start) == State::unknown);
    CHECK(table.pop_new());
    CHECK_FALSE(table.pop_new());
    auto wishes = table.wishes();
    CHECK(table.need(with_label("ssd"), ann, start) == State::unknown);

    table.take(wishes, {{gpu->feature(), 2}}, true);
    CHECK(table.need(gpu, ann, start) == State::ready);
    CHECK(table.need(with_label("ssd"), ann, start) == State::unknown);
    table.take(wishes, {}, true);
    CHECK(table.need(gpu, ann, start) == State::nowhere);
    table.take(wishes, {}, false); // some node could not be told
    CHECK(table.need(gpu, ann, start) == State::unknown);
}

TEST_CASE("in doubt nothing that is known of the Nodes changes, until a sync")
{
    PlacementTable table;
    PredicatePtr gpu = with_label("gpu");
    table.need(gpu, ann, start);
    CHECK(table.pop_new());
    table.take(table.wishes(), {{gpu->feature(), 2}}, true);
    CHECK_FALSE(table.doubted());

    table.doubt();
    CHECK(table.doubted());
    CHECK(table.need(gpu, ann, start) == State::ready);
    CHECK(table.need({}, ann, start) == State::nowhere);
    CHECK_FALSE(table.pop_new());
    CHECK_FALSE(table.take(table.wishes(), {{gpu->feature(), 2}}, true));
    CHECK_FALSE(table.doubted());
}

TEST_CASE("that of Pods without a wish is always wished for")
{
    PlacementTable table;

    CHECK(wished(table) == 1);
    CHECK(table.wishes().front() == nullptr);
    CHECK(table.need({}, ann, start) == State::unknown);
    CHECK_FALSE(table.pop_new());
    table.take(table.wishes(), {{names::untainted_feature, 1}}, true);
    CHECK(table.need({}, ann, start) == State::ready);
    CHECK_FALSE(table.drop_unused(start + seconds(100000), seconds(1)));
    CHECK(table.next_drop(seconds(1)) == Clock::time_point::max());
}

TEST_CASE("what nobody needs is forgotten after a while")
{
    PlacementTable table;
    table.need(with_label("gpu"), ann, start);
    table.need(with_label("ssd"), ann, start);

    CHECK(table.next_drop(seconds(60)) == start + seconds(60));
    CHECK_FALSE(table.drop_unused(start + seconds(59), seconds(60)));
    table.need(with_label("ssd"), ann, start + seconds(59));
    CHECK(table.drop_unused(start + seconds(60), seconds(60)));
    CHECK(wished(table) == 2);
    CHECK(table.next_drop(seconds(60)) == start + seconds(119));
}

TEST_CASE("there are not more than so many")
{
    PlacementTable table;
    table.set_limit(PlacementTable::max_predicates + 1);
    constexpr std::size_t most =
        PlacementTable::max_predicates - PlacementTable::reserve;
    for (std::size_t i = 0; i < most; i++)
        CHECK(table.need(with_label("l" + std::to_string(i)), ann, start) ==
              State::unknown);

    CHECK(table.need(with_label("more"), ann, start) == State::full);
    CHECK(table.need(with_label("l0"), ann, start + seconds(60)) ==
          State::unknown);
    table.drop_unused(start + seconds(60), seconds(60));
    CHECK(table.need(with_label("more"), ann, start) == State::unknown);
}

TEST_CASE("Pods of one kind share one object")
{
    PlacementTable table;
    PredicatePtr last;
    for (int i = 0; i < 200; i++) {
        Pod pod = make_pod("p" + std::to_string(i));
        pod.predicate = with_label("gpu");
        pod.preferred = with_label("l" + std::to_string(i));
        table.share(pod);
        if (last)
            CHECK(pod.predicate == last);
        last = pod.predicate;
    }
}

TEST_CASE("no namespace has more than its share, also of what others have")
{
    PlacementTable table;
    table.set_limit(2);
    table.need(with_label("a"), ann, start);
    table.need(with_label("b"), ann, start);

    CHECK(table.need(with_label("c"), ann, start) == State::full_in_namespace);
    CHECK(wished(table) == 3);
    CHECK(table.need({}, ann, start) == State::unknown);
    CHECK(table.need(with_label("a"), ann, start) == State::unknown);
    CHECK(table.need(with_label("c"), bob, start) == State::unknown);
    CHECK(table.need(with_label("c"), ann, start) == State::full_in_namespace);
    CHECK(table.need(with_label("a"), bob, start) == State::unknown);
    CHECK(table.need(with_label("b"), bob, start) == State::full_in_namespace);

    // Of ann's there is room when one of hers has not been needed for a while.
    table.need(with_label("b"), ann, start + seconds(9));
    table.need(with_label("a"), bob, start + seconds(9));
    CHECK(table.drop_unused(start + seconds(10), seconds(10)));
    CHECK(wished(table) == 3);
    CHECK(table.next_drop(seconds(10)) == start + seconds(19));
    CHECK(table.need(with_label("c"), ann, start + seconds(10)) ==
          State::unknown);
    CHECK(table.need(with_label("d"), ann, start + seconds(10)) ==
          State::full_in_namespace);
}

TEST_CASE("what a job asks for already is kept whatever the limits say")
{
    PlacementTable table;
    table.set_limit(1);
    table.need(with_label("a"), ann, start);

    CHECK(table.need(with_label("b"), {"ann", true}, start) == State::unknown);
    CHECK(wished(table) == 3);
    for (std::size_t i = 0; i < PlacementTable::max_predicates; i++)
        table.need(with_label("l" + std::to_string(i)),
                   {"ns" + std::to_string(i)}, start);
    CHECK(table.need(with_label("x"), {"new"}, start) == State::full);
    CHECK(table.need(with_label("x"), {"new", true}, start) == State::unknown);
}

namespace {

// A table of twenty namespaces, each of which may have 100 predicates.
struct Shared {
    PlacementTable table;
    int made = 0;

    Shared()
    {
        table.set_limit(100);
        table.set_namespaces(20);
    }

    // Asks for one more. Returns whether there is room.
    bool ask(const std::string &ns)
    {
        return table.need(with_label("l" + std::to_string(made++)), {ns},
                          start) == State::unknown;
    }
};

} // namespace

TEST_CASE_FIXTURE(Shared,
                  "predicates that no Node satisfies take no room of others")
{
    auto all_nowhere = [&] { table.take(table.wishes(), {}, true); };
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 100; k++)
            CHECK(ask("hostile" + std::to_string(i)));
        all_nowhere();
    }
    CHECK_FALSE(ask("hostile0")); // as many as it may have

    for (int k = 0; k < 100; k++)
        CHECK(ask("late"));
    CHECK(wished(table) == 501);

    // Nor is there no end to them.
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 100; k++)
            (void)ask("more" + std::to_string(i));
        all_nowhere();
    }
    CHECK(wished(table) <=
          1 + PlacementTable::max_predicates + PlacementTable::max_nowhere);
    table.drop_unused(start + seconds(60), seconds(60));
    CHECK(ask("late"));
}

TEST_CASE_FIXTURE(
    Shared, "whatever other namespaces need, each has its part of the reserve")
{
    for (int i = 0; i < 19; i++)
        for (int k = 0; k < 120; k++)
            ask("hostile" + std::to_string(i));
    CHECK(wished(table) <= PlacementTable::max_predicates);

    for (std::size_t i = 0; i < PlacementTable::reserve / 20; i++)
        CHECK(ask("late"));

    CHECK_FALSE(ask("late"));
    CHECK(table.need(with_label("x"), {"late"}, start) == State::full);
    CHECK(wished(table) <= PlacementTable::max_predicates + 1);
}
