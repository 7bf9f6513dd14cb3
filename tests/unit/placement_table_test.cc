// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/placement_table.h"
#include "tests/unit/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

using State = PlacementTable::State;
using std::chrono::seconds;

const Clock::time_point start = Clock::now();

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

    CHECK(table.need(gpu, start) == State::unknown);
    CHECK(table.take_new());
    CHECK_FALSE(table.take_new());
    auto wishes = table.wishes();
    CHECK(table.need(with_label("ssd"), start) == State::unknown);

    table.take(wishes, {{gpu->feature(), 2}}, true);
    CHECK(table.need(gpu, start) == State::ready);
    CHECK(table.need(with_label("ssd"), start) == State::unknown);
    table.take(wishes, {}, true);
    CHECK(table.need(gpu, start) == State::nowhere);
    table.take(wishes, {}, false); // some node could not be told
    CHECK(table.need(gpu, start) == State::unknown);
}

TEST_CASE("that of Pods without a wish is always wished for")
{
    PlacementTable table;

    CHECK(wished(table) == 1);
    CHECK(table.wishes().front() == nullptr);
    CHECK(table.need({}, start) == State::unknown);
    CHECK_FALSE(table.take_new());
    table.take(table.wishes(), {{names::untainted_feature, 1}}, true);
    CHECK(table.need({}, start) == State::ready);
    CHECK_FALSE(table.drop_unused(start + seconds(100000), seconds(1)));
    CHECK(table.next_drop(seconds(1)) == Clock::time_point::max());
}

TEST_CASE("what nobody needs is forgotten after a while")
{
    PlacementTable table;
    table.need(with_label("gpu"), start);
    table.need(with_label("ssd"), start);

    CHECK(table.next_drop(seconds(60)) == start + seconds(60));
    CHECK_FALSE(table.drop_unused(start + seconds(59), seconds(60)));
    table.need(with_label("ssd"), start + seconds(59));
    CHECK(table.drop_unused(start + seconds(60), seconds(60)));
    CHECK(wished(table) == 2);
    CHECK(table.next_drop(seconds(60)) == start + seconds(119));
}

TEST_CASE("there are not more than so many")
{
    PlacementTable table;
    for (std::size_t i = 0; i < PlacementTable::max_predicates; i++)
        CHECK(table.need(with_label("l" + std::to_string(i)), start) ==
              State::unknown);

    CHECK(table.need(with_label("more"), start) == State::full);
    CHECK(table.need(with_label("l0"), start + seconds(60)) == State::unknown);
    table.drop_unused(start + seconds(60), seconds(60));
    CHECK(table.need(with_label("more"), start) == State::unknown);
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
