// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/news.h"
#include "tests/unit/operator/make.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

Worker in(const std::string &ns, int ordinal)
{
    Worker made = worker(ordinal);
    made.meta.key.ns = ns;
    return made;
}

Unserved other(const std::string &kind)
{
    Unserved made;
    made.kind = kind;
    made.meta.key = {"a", "one"};
    return made;
}

} // namespace

TEST_CASE("a list replaces what its watch has told, and nothing else")
{
    Store store;
    store.hear(Listed<Worker>{"pods a", "", "a", {in("a", 0), in("a", 1)}});
    store.hear(Listed<Worker>{"pods b", "", "b", {in("b", 0)}});
    store.hear(Listed<Worker>{"pods a", "", "a", {in("a", 1)}});
    CHECK(store.known.workers.size() == 2);
    CHECK(store.known.workers.contains({"a", "w-1"}));
    CHECK(store.known.workers.contains({"b", "w-0"}));
    CHECK(store.complete.size() == 2);
    store.hear(Listed<Worker>{"pods", "", "", {}});
    CHECK(store.known.workers.empty());
}

TEST_CASE("lists of one kind leave the others")
{
    Store store;
    store.hear(Listed<Unserved>{"l", "LoginSet", "", {other("LoginSet")}});
    store.hear(Listed<Unserved>{"t", "Token", "", {other("Token")}});
    store.hear(Listed<Unserved>{"l", "LoginSet", "", {}});
    CHECK(store.known.unserved.size() == 1);
}

TEST_CASE("changes are added and taken away")
{
    Store store;
    store.hear(Changed<Worker>{in("a", 0), false});
    CHECK(store.known.workers.size() == 1);
    store.hear(Changed<Worker>{in("a", 0), true});
    CHECK(store.known.workers.empty());
    store.hear(WatchSays{"pods", "no answer"});
    CHECK(store.failing.at("pods") == "no answer");
    store.hear(WatchSays{"pods", ""});
    CHECK(store.failing.empty());
}
