// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/constraints.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

TEST_CASE("a user's constraint is joined with ours so that both hold")
{
    struct Row {
        const char *users;
        const char *joined;
    };
    const Row rows[] = {
        {"", "k8s&k8s-1a"},
        {"ssd", "(ssd)&k8s&k8s-1a"},
        {"ssd|nvme", "(ssd|nvme)&k8s&k8s-1a"},
        {"ssd&nvme", "(ssd&nvme)&k8s&k8s-1a"},
        {"ssd,nvme", "(ssd,nvme)&k8s&k8s-1a"},
        {"(ssd|nvme)", "(ssd|nvme)&k8s&k8s-1a"},
        {"(ssd|nvme)&rack1", "(ssd|nvme)&rack1&k8s&k8s-1a"},
        {"rack1&(ssd|nvme)&(a|b)", "rack1&(ssd|nvme)&(a|b)&k8s&k8s-1a"},
    };
    for (const Row &row : rows) {
        CAPTURE(row.users);
        if (*row.users)
            CHECK(unfit_constraint_reason(row.users) == "");
        CHECK(join_constraints(row.users, {"k8s", "k8s-1a"}) == row.joined);
    }
}

TEST_CASE(
    "what cannot be joined is refused, as is what would let ours not hold")
{
    for (const char *users :
         {"",          "ssd|",    "|ssd",    "ssd||nvme",    "ssd&",
          "(ssd",      "ssd)",    "((a|b))", "(a)(b)",       "(a)b",
          "a(b)",      "(a&b)|c", "a|(b&c)", "()",           "[a|b]",
          "[a*1&b*2]", "a*2",     "(a|b)*2", "!a",           "a b",
          "a\tb",      "a\nb",    "\"a\"",   "k8s-node-kn1", "(a|k8s-1f)",
          "a&k8s-",    "ä",       "a;b",     "a)|(b"}) {
        CAPTURE(users);
        CHECK(unfit_constraint_reason(users).starts_with("be features"));
    }
    CHECK(unfit_constraint_reason(std::string("a\0b", 3)) != "");
    CHECK(unfit_constraint_reason("k8s") == ""); // says nothing new
}
