// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/pending_quota.h"

#include <doctest/doctest.h>

using namespace bridge;
using Uids = std::vector<std::string>;
using Full = PendingQuota::Full;

namespace {

PendingQuota::Asker asker(const std::string &uid, const std::string &ns = "a",
                          int created = 0)
{
    return {uid, ns, std::chrono::sys_seconds(std::chrono::seconds(created))};
}

PendingQuota quota_of(unsigned all, unsigned in_namespace = 0)
{
    PendingQuota quota;
    quota.set_limits({all, in_namespace});
    return quota;
}

} // namespace

TEST_CASE("without limits everybody may ask")
{
    PendingQuota quota = quota_of(0);
    for (int i = 0; i < 1000; i++)
        CHECK(quota.may_ask(asker(std::to_string(i))));
    CHECK(quota.counted() == 1000);
    CHECK(quota.in_line() == 0);
}

TEST_CASE("beyond the limit one stands in line until another leaves")
{
    PendingQuota quota = quota_of(2);
    CHECK(quota.may_ask(asker("1")));
    CHECK(quota.may_ask(asker("1"))); // again: it counts once
    CHECK(quota.may_ask(asker("2")));
    CHECK_FALSE(quota.may_ask(asker("3")));
    CHECK_FALSE(quota.may_ask(asker("3")));
    CHECK(quota.full("a") == Full::all);
    CHECK(quota.counted() == 2);
    CHECK(quota.in_line() == 1);
    CHECK(quota.admit() == Uids{});

    quota.leave("1");

    CHECK(quota.admit() == Uids{"3"});
    CHECK(quota.admit() == Uids{}); // it counts already
    CHECK(quota.may_ask(asker("3")));
    CHECK(quota.in_line() == 0);
}

TEST_CASE("who comes later does not pass those in line")
{
    PendingQuota quota = quota_of(1);
    CHECK(quota.may_ask(asker("1")));
    CHECK_FALSE(quota.may_ask(asker("2")));
    quota.leave("1");
    CHECK_FALSE(quota.may_ask(asker("3")));
    CHECK(quota.admit() == Uids{"2"});
}

TEST_CASE("of one namespace the oldest Pod is let in first")
{
    PendingQuota quota = quota_of(1);
    quota.count(asker("1"));
    CHECK_FALSE(quota.may_ask(asker("young", "a", 20)));
    CHECK_FALSE(quota.may_ask(asker("old", "a", 10)));
    quota.leave("1");
    CHECK(quota.admit() == Uids{"old"});
}

TEST_CASE("a namespace with few jobs in Slurm goes before one with many")
{
    PendingQuota quota = quota_of(4);
    for (const char *uid : {"a1", "a2", "a3"})
        CHECK(quota.may_ask(asker(uid, "a")));
    CHECK(quota.may_ask(asker("b1", "b")));
    for (const char *uid : {"a4", "a5"})
        CHECK_FALSE(quota.may_ask(asker(uid, "a", 1)));
    for (const char *uid : {"b2", "c1"})
        CHECK_FALSE(quota.may_ask(asker(uid, std::string(uid, 1), 99)));

    quota.leave("a1");
    CHECK(quota.admit() == Uids{"c1"}); // nobody of c was in Slurm
    quota.leave("a2");
    CHECK(quota.admit() == Uids{"a4"}); // one each: the oldest
}

TEST_CASE("one namespace's limit holds nobody else back")
{
    PendingQuota quota = quota_of(10, 2);
    CHECK(quota.may_ask(asker("a1", "a")));
    CHECK(quota.may_ask(asker("a2", "a")));
    CHECK_FALSE(quota.may_ask(asker("a3", "a")));
    CHECK(quota.full("a") == Full::in_namespace);
    CHECK(quota.full("b") == Full::nothing);
    CHECK(quota.may_ask(asker("b1", "b")));
    quota.leave("b1");
    CHECK(quota.admit() == Uids{});
    quota.leave("a1");
    CHECK(quota.admit() == Uids{"a3"});
}

TEST_CASE("what waits in Slurm already counts, even beyond the limit")
{
    PendingQuota quota = quota_of(2);
    for (const char *uid : {"1", "2", "3"})
        quota.count(asker(uid));
    CHECK(quota.counted() == 3);
    CHECK_FALSE(quota.may_ask(asker("4")));
    quota.leave("1");
    CHECK(quota.admit() == Uids{});
    quota.leave("2");
    CHECK(quota.admit() == Uids{"4"});
}

TEST_CASE("whoever is gone holds no place, in line or in Slurm")
{
    PendingQuota quota = quota_of(1);
    CHECK(quota.may_ask(asker("1")));
    CHECK_FALSE(quota.may_ask(asker("2")));
    CHECK_FALSE(quota.may_ask(asker("3")));
    quota.leave("2");
    quota.leave("nobody");
    quota.leave("1");
    CHECK(quota.admit() == Uids{"3"});
    quota.leave("3");
    CHECK(quota.counted() == 0);
    CHECK(quota.in_line() == 0);
}

TEST_CASE("a wider limit lets those in line in")
{
    PendingQuota quota = quota_of(1);
    CHECK(quota.may_ask(asker("1")));
    CHECK_FALSE(quota.may_ask(asker("2")));
    CHECK_FALSE(quota.may_ask(asker("3")));
    quota.set_limits({0, 0});
    CHECK(quota.admit().size() == 2);
    CHECK(quota.counted() == 3);
}
