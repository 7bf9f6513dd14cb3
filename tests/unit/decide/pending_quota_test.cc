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

PendingQuota::Asker wishing(const std::string &uid, const std::string &ns = "a",
                            int created = 0)
{
    PendingQuota::Asker made = asker(uid, ns, created);
    made.by_wish = true;
    return made;
}

PendingQuota quota_of(unsigned all, unsigned in_namespace = 0)
{
    PendingQuota quota;
    quota.set_limits({all, in_namespace});
    return quota;
}

// Of which each namespace has its share.
PendingQuota shared_quota(unsigned all, std::size_t namespaces = 1)
{
    PendingQuota quota;
    quota.set_limits({all, std::nullopt});
    quota.set_namespaces(namespaces);
    return quota;
}

// Returns how many of so many gangs of this namespace may ask.
int count_admitted(PendingQuota &quota, const std::string &ns, int gangs,
                   bool by_wish = false)
{
    int admitted = 0;
    for (int i = 0; i < gangs; i++) {
        std::string uid = ns + std::to_string(i) + (by_wish ? "w" : "");
        admitted +=
            quota.may_ask(by_wish ? wishing(uid, ns, i) : asker(uid, ns, i));
    }
    return admitted;
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

TEST_CASE("a namespace has a fifth of all places, or what k8s.conf says")
{
    PendingQuota quota = shared_quota(50);
    CHECK(quota.share() == 10);
    CHECK(count_admitted(quota, "a", 30) == 10);
    CHECK(quota.full("a") == Full::in_namespace);
    CHECK(quota.full("b") == Full::nothing);

    quota.set_limits({50, 15});
    CHECK(quota.share() == 15);
    CHECK(quota.admit().size() == 5);

    quota.set_limits({50, 0}); // neither a share nor a reserve
    CHECK(quota.admit().size() == 15);
    CHECK(count_admitted(quota, "b", 30) == 20);
    CHECK(quota.full("b") == Full::all);
    CHECK(shared_quota(3).share() == 1);
    CHECK(shared_quota(0).share() == 0);
}

TEST_CASE("whatever others take, each namespace has its part of the reserve")
{
    struct Row {
        unsigned all;
        int others;
        int part; // of the reserve
    };
    for (Row row : {Row{50, 9, 1}, Row{50, 4, 2}, Row{5000, 6, 142},
                    Row{5000, 99, 10}, Row{5000, 900, 1}}) {
        CAPTURE(row.all);
        CAPTURE(row.others);
        PendingQuota quota =
            shared_quota(row.all, static_cast<std::size_t>(row.others) + 1);
        for (int i = 0; i < row.others; i++)
            count_admitted(quota, "hostile" + std::to_string(i),
                           i < 4 ? static_cast<int>(row.all) : 200);
        CHECK(quota.admit() == Uids{});
        CHECK(quota.in_line() != 0);

        CHECK(count_admitted(quota, "late", 1000) >= row.part);

        CHECK(quota.counted() <= row.all);
    }
}

TEST_CASE("who has its part of the reserve waits until others leave")
{
    PendingQuota quota = shared_quota(10, 4); // the reserve: 2, one each
    for (const char *ns : {"a", "b", "c", "d"})
        CHECK(count_admitted(quota, ns, 2) == 2);
    CHECK_FALSE(quota.may_ask(asker("d2", "d")));
    CHECK(quota.full("d") == Full::in_namespace);
    CHECK(quota.may_ask(asker("e0", "e")));
    CHECK_FALSE(quota.may_ask(asker("e1", "e")));
    CHECK(quota.full("e") == Full::all);

    quota.leave("a0");
    CHECK(quota.admit() == Uids{}); // the reserve is in use still
    quota.leave("b0");
    CHECK(quota.admit() == Uids{"e1"});
}

TEST_CASE("held jobs leave half of its share to the others of a namespace")
{
    PendingQuota quota = shared_quota(50);
    CHECK(count_admitted(quota, "a", 30, true) == 5);
    CHECK(quota.full("a", true) == Full::by_wish);
    CHECK(quota.full("a") == Full::nothing);
    CHECK(count_admitted(quota, "a", 30) == 5); // past those in line
    CHECK(quota.full("a") == Full::in_namespace);

    quota.leave("a0"); // of the others
    CHECK(quota.admit() == Uids{"a5"});
    quota.leave("a0w");
    CHECK(quota.admit() == Uids{"a5w"}); // it is older than a6
}

TEST_CASE("a job that is released does not count as held any more")
{
    PendingQuota quota = shared_quota(50);
    CHECK(count_admitted(quota, "a", 7, true) == 5);

    quota.count(asker("a0w"));
    CHECK(quota.admit() == Uids{"a5w"});
    quota.count(wishing("a0w")); // held again: it stays
    CHECK(quota.counted() == 6);
    CHECK(quota.admit() == Uids{});

    // One in line changes the line, and loses its place in neither.
    CHECK_FALSE(quota.may_ask(asker("a6w")));
    CHECK(quota.admit() == Uids{"a6w"});
    CHECK(quota.in_line() == 0);
    CHECK_FALSE(quota.is_in_line("a6w"));
}

TEST_CASE("of a namespace the oldest comes first, held or not")
{
    PendingQuota quota = shared_quota(20); // a share of 4
    CHECK(count_admitted(quota, "a", 4) == 4);
    CHECK_FALSE(quota.may_ask(wishing("old", "a", 10)));
    CHECK_FALSE(quota.may_ask(asker("young", "a", 20)));
    CHECK(quota.is_in_line("old"));
    quota.leave("a0");
    CHECK(quota.admit() == Uids{"old"});
    quota.leave("a1");
    CHECK(quota.admit() == Uids{"young"});
}

TEST_CASE("the share that k8s.conf gives holds without a limit of all, too")
{
    PendingQuota quota = quota_of(0, 4);
    CHECK(count_admitted(quota, "a", 9, true) == 2);
    CHECK(count_admitted(quota, "a", 9) == 2);
    CHECK(quota.full("a") == Full::in_namespace);
}
