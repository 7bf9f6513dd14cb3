// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/identity.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

Result<Identity> identify(const Namespace &ns, const Conf &conf)
{
    return bridge::identify(ns, make_pod("web"), conf);
}

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

std::string refusal_reason(const Namespace &ns, const Conf &conf = {})
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

    auto by_number = identify(ns_of(std::to_string(by_name->user_id)), {});
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
    std::string reason = refusal_reason(ns_of(""));

    CHECK(reason.find("slurmk8s/user") != reason.npos);
    CHECK(reason.find("DefaultUser") != reason.npos);
    CHECK(reason.contains("(kubectl annotate namespace science "
                          "slurmk8s/user=USER)"));
}

TEST_CASE("unknown users and groups are refused by their name")
{
    for (const char *user :
         {"no-such-user", "4000000000", "4294967295", "4294967296", "-1",
          "root ", " root", "1 ", "0x0", "daemon:x", "../etc"}) {
        CAPTURE(user);
        std::string reason = refusal_reason(ns_of(user));
        CHECK(reason.find(user) != reason.npos);
    }
    CHECK(refusal_reason(ns_of("daemon", "no-such-group"))
              .find("no-such-group") != std::string::npos);
    refusal_reason(ns_of("daemon", "-1"));
    refusal_reason(ns_of(std::string(100000, 'x')));
}

TEST_CASE("root is refused, as user and as group, in every spelling")
{
    CHECK(refusal_reason(ns_of("root")).find("AllowRoot") != std::string::npos);
    refusal_reason(ns_of("0"));
    refusal_reason(ns_of("000"));
    refusal_reason(ns_of("daemon", "root"));
    refusal_reason(ns_of("daemon", "0"));
    Conf conf;
    conf.default_user = "root";
    refusal_reason(ns_of(""), conf);
}

TEST_CASE("root is taken where k8s.conf allows it")
{
    auto identity = identify(ns_of("root"), root_allowed());

    REQUIRE(identity);
    CHECK(*identity == Identity{0, 0, {}, {}, 0});
}

// Slurm reads 0xfffffffe (NO_VAL) as "not given": the job would get our group.
TEST_CASE("group numbers that mean nothing in Slurm are refused")
{
    refusal_reason(ns_of("daemon", "4294967294"));
    refusal_reason(ns_of("daemon", "4294967295"));
}

// --- What the Pod names itself

namespace {

Result<Identity> identify_pod(const Namespace &ns, const TextMap &wishes,
                              const Conf &conf = {},
                              const std::string &priority_class = {})
{
    Pod pod = make_pod("web");
    pod.priority_class = priority_class;
    for (const auto &[name, value] : wishes)
        pod.annotations["slurmk8s/" + name] = value;
    return bridge::identify(ns, pod, conf);
}

std::string refusal_reason_of(const Namespace &ns, const TextMap &wishes,
                              const Conf &conf = {})
{
    auto identity = identify_pod(ns, wishes, conf);
    REQUIRE_FALSE(identity);
    CHECK(identity.error().code == Code::rejected);
    return identity.error().message;
}

Conf may_choose(const std::string &ns)
{
    Conf conf;
    conf.choose_user = {ns};
    return conf;
}

} // namespace

TEST_CASE("a Pod names another user or group only where k8s.conf lets it")
{
    for (const Conf &conf : {Conf{}, may_choose("other")}) {
        std::string reason =
            refusal_reason_of(ns_of("daemon"), {{"user-id", "bin"}}, conf);
        CHECK(reason.contains("slurmk8s/user-id"));
        CHECK(reason.contains("\"bin\""));
        CHECK(reason.contains("ChooseUser"));
        refusal_reason_of(ns_of("daemon"), {{"group-id", "tty"}}, conf);
    }
    for (const char *listed : {"science", "*"}) {
        CAPTURE(listed);
        auto bin = identify_pod(ns_of("daemon", "tty"), {{"user-id", "bin"}},
                                may_choose(listed));
        REQUIRE(bin);
        CHECK(*bin == *identify(ns_of("bin"), {})); // with its own group
        auto group = identify_pod(ns_of("daemon"), {{"group-id", "54321"}},
                                  may_choose(listed));
        REQUIRE(group);
        CHECK(group->group_id == 54321);
    }
    // Without anybody else to be.
    CHECK(identify_pod(ns_of(""), {{"user-id", "bin"}}, may_choose("science")));
    refusal_reason_of(ns_of(""), {{"user-id", "bin"}});
}

TEST_CASE("a Pod may name whom it runs as anyway")
{
    auto daemon = identify(ns_of("daemon"), {});
    REQUIRE(daemon);
    CHECK(identify_pod(ns_of("daemon"), {{"user-id", "daemon"}}) == *daemon);
    CHECK(identify_pod(ns_of("daemon"),
                       {{"user-id", std::to_string(daemon->user_id)},
                        {"group-id", std::to_string(daemon->group_id)}}) ==
          *daemon);
}

TEST_CASE("root cannot be chosen either")
{
    Conf conf = may_choose("*");
    for (const char *root : {"root", "0", "00"}) {
        CAPTURE(root);
        CHECK(refusal_reason_of(ns_of("daemon"), {{"user-id", root}}, conf)
                  .contains("AllowRoot"));
        CHECK(refusal_reason_of(ns_of("daemon"), {{"group-id", root}}, conf)
                  .contains("AllowRoot"));
    }
}

TEST_CASE("account and QoS are the Pod's to name unless its namespace does")
{
    Namespace open = ns_of("daemon");
    auto chosen = identify_pod(open, {{"account", "physics"}, {"qos", "high"}});
    REQUIRE(chosen);
    CHECK(chosen->account == "physics");
    CHECK(chosen->qos == "high");

    Namespace fixed = ns_of("daemon", "", "physics");
    fixed.annotations[names::namespace_qos] = "low";
    CHECK(identify_pod(fixed, {})->qos == "low");
    CHECK(identify_pod(fixed, {{"account", "physics"}, {"qos", "low"}}));
    CHECK(refusal_reason_of(fixed, {{"account", "chemistry"}})
              .contains("must be \"physics\""));
    CHECK(refusal_reason_of(fixed, {{"qos", "high"}}).contains("ChooseUser"));

    auto free = identify_pod(fixed, {{"account", "chemistry"}, {"qos", "high"}},
                             may_choose("science"));
    REQUIRE(free);
    CHECK(free->account == "chemistry");
    CHECK(free->qos == "high");
}

TEST_CASE("no Pod raises its priority unless k8s.conf lets its namespace")
{
    Namespace ns = ns_of("daemon");
    CHECK(identify_pod(ns, {{"priority", "0"}}));
    CHECK(identify_pod(ns, {{"nice", "100"}}));
    CHECK(
        refusal_reason_of(ns, {{"priority", "1"}}).contains("ChoosePriority"));
    CHECK(refusal_reason_of(ns, {{"priority", "4294967293"}})
              .contains("ChoosePriority"));
    CHECK(refusal_reason_of(ns, {{"nice", "-1"}}).contains("ChoosePriority"));
    refusal_reason_of(ns, {{"priority", "1"}}, may_choose("*"));

    Conf conf;
    conf.choose_priority = {"science"};
    CHECK(identify_pod(ns, {{"priority", "1"}}, conf));
    CHECK(identify_pod(ns, {{"nice", "-2147483645"}}, conf));
    conf.choose_priority = {"other"};
    refusal_reason_of(ns, {{"nice", "-5"}}, conf);
}

TEST_CASE("a PriorityClass of the table stands for a QoS and a nice value")
{
    Conf conf;
    conf.priority_classes = {{"urgent", {"high", -100}}, {"idle", {"", 500}}};
    Namespace ns = ns_of("daemon");

    auto urgent = identify_pod(ns, {}, conf, "urgent");
    REQUIRE(urgent);
    CHECK(urgent->qos == "high");
    CHECK(urgent->nice == -100); // the table is an administrator's
    CHECK(identify_pod(ns, {}, conf, "idle")->nice == 500);
    CHECK(identify_pod(ns, {}, conf, "idle")->qos == "");
    CHECK(identify_pod(ns, {}, conf, "unknown")->nice == 0);
    CHECK(identify_pod(ns, {{"qos", "low"}}, conf, "urgent")->qos == "low");
    ns.annotations[names::namespace_qos] = "fixed";
    CHECK(identify_pod(ns, {}, conf, "urgent")->qos == "fixed");
}
