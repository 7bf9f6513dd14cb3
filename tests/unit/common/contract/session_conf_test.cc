// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/conf.h"
#include "common/contract/session_conf.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

std::string error_of(const std::string &text)
{
    auto conf = parse_session_conf(text);
    if (conf)
        return {};
    CHECK(conf.error().code == Code::rejected);
    // Who reads the other keys refuses the same file.
    CHECK(!parse_conf(text));
    return conf.error().message;
}

constexpr char tls[] = "UserCertificate=/c.crt\nUserKey=/c.key\n";

} // namespace

TEST_CASE("without its keys nobody listens to users")
{
    CHECK(parse_session_conf("").value() == SessionConf{});
    CHECK(parse_session_conf("Partition=k8s\nBogus=1\n").value() ==
          SessionConf{});
}

TEST_CASE("the keys for users' sessions, among others")
{
    std::string text = "usersocket = /run/slurmk8s/user.sock # ours\n"
                       "UserAddress=[::]:8474\n" +
                       std::string(tls) +
                       "UserServer=ctl.example.com:8474\nUserCaFile=/ca.crt\n"
                       "UserAttach=YES\nPartition=k8s\n";
    SessionConf all{"/run/slurmk8s/user.sock", "[::]:8474", "/c.crt", "/c.key",
                    "ctl.example.com:8474",    "/ca.crt",   true};

    CHECK(parse_session_conf(text).value() == all);
    CHECK(parse_conf(text).value().partition == "k8s");
}

TEST_CASE("a wrong value is refused with its line")
{
    CHECK(error_of("\nUserSocket=user.sock\n") ==
          "line 2: UserSocket must be an absolute path");
    CHECK(error_of("UserAttach=maybe\n") ==
          "line 1: UserAttach must be yes or no");
    for (const char *address : {"8474", ":8474", "a:0", "a:65536", "a:b",
                                "::1:8474", "[a]:1", "a b:1", "a/b:1"})
        CHECK(error_of("UserServer=" + std::string(address) +
                       "\nUserCaFile=/ca.crt\n") ==
              "line 1: UserServer must be HOST:PORT or [IPV6]:PORT");
}

TEST_CASE("an address without what makes it safe is refused")
{
    CHECK(error_of("UserAddress=0.0.0.0:1\n").contains("UserCertificate"));
    CHECK(error_of("UserAddress=0.0.0.0:1\nUserKey=/k\n")
              .contains("UserCertificate"));
    CHECK(error_of("UserServer=a:1\n").contains("UserCaFile"));
}

TEST_CASE("a key for users is given once, and has a value")
{
    CHECK(parse_conf("UserAttach=no\nuserattach=no\n").error().message ==
          "line 2: UserAttach is given twice");
    CHECK(parse_conf("UserSocket=\n").error().message ==
          "line 1: UserSocket has no value");
}
