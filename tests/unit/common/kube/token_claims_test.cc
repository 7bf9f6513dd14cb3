// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/token_claims.h"

#include "tests/unit/fakes/jwt.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;
using std::chrono::sys_seconds;

TEST_CASE("a token says whose it is, when it was issued and when it expires")
{
    TokenClaims claims = token_claims(agent_token(1000, 2000));

    CHECK(claims.ns == "slurm-k8s-bridge");
    CHECK(claims.account == "slurmk8sd");
    CHECK(claims.issued == sys_seconds(1000s));
    CHECK(claims.expires == sys_seconds(2000s));
    CHECK_FALSE(claims.of_pod);
    CHECK(claims.secret.empty());
}

TEST_CASE("a token says to what it is bound")
{
    TokenClaims of_pod = token_claims(agent_token(
        1, 2, R"(,"kubernetes.io":{"pod":{"name":"p","uid":"u"}})"));
    CHECK(of_pod.of_pod);

    TokenClaims bound = token_claims(agent_token(
        1, 2, R"(,"kubernetes.io":{"secret":{"name":"s","uid":"u"}})"));
    CHECK_FALSE(bound.of_pod);
    CHECK(bound.secret == "s");
    CHECK(bound.secret_uid == "u");
}

TEST_CASE("what is no token, or that of a user, claims nothing")
{
    for (const std::string &text :
         {std::string(), std::string("a.b"), std::string("e30.%%%.x"),
          jwt("[]"), jwt(R"({"sub":"alice","exp":"soon","iat":-1})"),
          jwt(R"({"sub":"system:serviceaccount:only"})")}) {
        CAPTURE(text);
        TokenClaims claims = token_claims(text);
        CHECK(claims.ns.empty());
        CHECK(claims.account.empty());
        CHECK_FALSE(claims.issued);
        CHECK_FALSE(claims.expires);
    }
}
