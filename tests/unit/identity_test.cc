// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/identity.h"
#include "common/names.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

Namespace ns_of(const std::string &user, const std::string &group = {},
                const std::string &account = {})
{
    Namespace ns;
    ns.name = "science";
    if (!user.empty())
        ns.annotations[names::namespace_user] = user;
    if (!group.empty())
        ns.annotations[names::namespace_group] = group;
    if (!account.empty())
        ns.annotations[names::namespace_account] = account;
    return ns;
}

std::string refusal(const Namespace &ns, const Conf &conf = {})
{
    auto identity = identify(ns, conf);
    REQUIRE_FALSE(identity);
    CHECK(identity.error().code == Code::rejected);
    return identity.error().message;
}

Conf root_allowed()
{
    Conf conf;
    conf.allow_root = true;
    return conf;
}

} // namespace

// Every system has "daemon" with uid 1 or 2; Debian's is 1:1.
TEST_CASE("the namespace's annotation names the user, by name or by number")
{
    auto by_name = identify(ns_of("daemon"), {});
    REQUIRE(by_name);
    CHECK(by_name->user_id != 0);
    CHECK(by_name->account == "");

    auto by_number =
        identify(ns_of(std::to_string(by_name->user_id)), {});
    REQUIRE(by_number);
    CHECK(*by_number == *by_name);
}

TEST_CASE("the annotation goes before DefaultUser, which needs no annotation")
{
    Conf conf;
    conf.default_user = "daemon";
    auto daemon = identify(ns_of("daemon"), {});
    REQUIRE(daemon);

    CHECK(*identify(ns_of(""), conf) == *daemon);
    conf.default_user = "no-such-user";
    CHECK(*identify(ns_of("daemon"), conf) == *daemon);
}

TEST_CASE("group and account come from the namespace")
{
    auto identity = identify(ns_of("daemon", "12345", "physics"), {});
    REQUIRE(identity);
    CHECK(identity->group_id == 12345);
    CHECK(identity->account == "physics");

    auto named = identify(ns_of("daemon", "tty"), {});
    REQUIRE(named);
    CHECK(named->group_id != identity->group_id);
}

TEST_CASE("nobody to run the Pod as is refused with what to do")
{
    std::string why = refusal(ns_of(""));

    CHECK(why.find("slurmk8s/user") != why.npos);
    CHECK(why.find("DefaultUser") != why.npos);
}

TEST_CASE("unknown users and groups are refused by their name")
{
    for (const char *user :
         {"no-such-user", "4000000000", "4294967295", "4294967296", "-1",
          "root ", " root", "1 ", "0x0", "daemon:x", "../etc"}) {
        CAPTURE(user);
        std::string why = refusal(ns_of(user));
        CHECK(why.find(user) != why.npos);
    }
    CHECK(refusal(ns_of("daemon", "no-such-group")).find("no-such-group") !=
          std::string::npos);
    refusal(ns_of("daemon", "-1"));
    refusal(ns_of(std::string(100000, 'x')));
}

TEST_CASE("root is refused, as user and as group, in every spelling")
{
    CHECK(refusal(ns_of("root")).find("AllowRoot") != std::string::npos);
    refusal(ns_of("0"));
    refusal(ns_of("000"));
    refusal(ns_of("daemon", "root"));
    refusal(ns_of("daemon", "0"));
    Conf conf;
    conf.default_user = "root";
    refusal(ns_of(""), conf);
}

TEST_CASE("root is taken where k8s.conf allows it")
{
    auto identity = identify(ns_of("root"), root_allowed());

    REQUIRE(identity);
    CHECK(*identity == Identity{0, 0, ""});
}

// Slurm reads 0xfffffffe (NO_VAL) as "not given": the job would get our group.
TEST_CASE("group numbers that mean nothing in Slurm are refused")
{
    refusal(ns_of("daemon", "4294967294"));
    refusal(ns_of("daemon", "4294967295"));
}
