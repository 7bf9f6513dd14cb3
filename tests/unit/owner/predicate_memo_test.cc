// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/predicate_memo.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

NodeSelector has(const std::string &key)
{
    return {{{key, false, NodeOperator::exists, {}}}};
}

PredicatePtr plain(const std::string &key)
{
    return *Predicate::make({has(key)}, {{"dedicated", true, "", ""}});
}

const DeviceCondition fast{"fast", {}};

} // namespace

TEST_CASE("a predicate is made once of the same parts")
{
    PredicateMemo memo;
    const PredicatePtr ssd = plain("ssd");
    const PredicatePtr both = *memo.make(ssd, {has("zone")}, fast);

    CHECK(*both == **Predicate::make({has("ssd"), has("zone")},
                                     ssd->tolerations(), fast));
    CHECK(*memo.make(ssd, {has("zone")}, fast) == both);
    CHECK(memo.made() == 1);

    CHECK(*memo.make(ssd, {has("zone")}, {}) != both);
    CHECK(*memo.make(ssd, {}, fast) != both);
    CHECK(*memo.make(plain("hdd"), {has("zone")}, fast) != both);
    CHECK(memo.made() == 4);
}

TEST_CASE("no predicate at all is a part like others")
{
    PredicateMemo memo;
    CHECK(*memo.make(nullptr, {}, {}) == nullptr);
    CHECK((*memo.make(nullptr, {has("zone")}, {}))->text() == "zone");
    CHECK(memo.find(nullptr, {has("zone")}, {})->text() == "zone");
    CHECK(memo.find(nullptr, {has("other")}, {}) == nullptr);
    CHECK(memo.made() == 2);
}

TEST_CASE("a predicate that is too long is refused without being made again")
{
    PredicateMemo memo;
    const std::string key(Predicate::max_text + 1, 'k');
    CHECK_FALSE(memo.make(nullptr, {has(key)}, {}));
    CHECK_FALSE(memo.make(nullptr, {has(key)}, {}));
    CHECK(memo.made() == 1);
}

TEST_CASE("what is asked for stays known, and the rest is forgotten")
{
    PredicateMemo memo;
    const std::string key(Predicate::max_text / 2, 'k');
    const std::size_t many = PredicateMemo::most_text / key.size();
    const PredicatePtr ssd = plain("ssd");
    const PredicatePtr used = *memo.make(ssd, {has("used")}, {});
    CHECK(memo.make(ssd, {has("unused")}, {}));
    for (std::size_t i = 0; i < 2 * many; i++) {
        CHECK(memo.make(nullptr, {has(key + std::to_string(i))}, {}));
        CHECK(*memo.make(ssd, {has("used")}, {}) == used);
    }
    CHECK(memo.find(ssd, {has("unused")}, {}) == nullptr);
}
