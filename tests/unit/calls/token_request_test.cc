// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/token_request.h"

#include "common/base/json.h"
#include "tests/unit/fakes/jwt.h"
#include "tests/unit/fakes/tls_server.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;
using std::chrono::sys_seconds;

namespace {

constexpr long day = 24 * 3600;

TokenClaims lives(long seconds, const std::string &more = {})
{
    return token_claims(agent_token(0, seconds, more));
}

std::optional<std::int64_t> asked_life(long seconds)
{
    auto body = Json::parse(token_request_body(lives(seconds)));
    return body->integer("spec/expirationSeconds");
}

Result<std::string> ask(int status, const std::string &body)
{
    TlsServer server([&](const TlsServer::Request &, TlsServer::Peer &peer) {
        peer.send(reply_text(status, body));
    });
    Http http(server.endpoint());
    return request_token(http, lives(day));
}

std::string answer(const std::string &token)
{
    return R"({"status":{"token":")" + token + "\"}}";
}

} // namespace

TEST_CASE("a token is due at half of its life, and late at three quarters")
{
    TokenClaims claims = lives(day);

    CHECK_FALSE(token_is_due(claims, sys_seconds(11h + 59min)));
    CHECK(token_is_due(claims, sys_seconds(12h)));
    CHECK_FALSE(token_is_late(claims, sys_seconds(17h + 59min)));
    CHECK(token_is_late(claims, sys_seconds(18h)));
    CHECK(token_is_late(claims, sys_seconds(48h)));
}

TEST_CASE("the last ten minutes of any token are too little")
{
    TokenClaims claims = lives(900);

    CHECK_FALSE(token_is_due(claims, sys_seconds(299s)));
    CHECK(token_is_due(claims, sys_seconds(300s)));
    CHECK(token_is_late(claims, sys_seconds(300s)));
}

TEST_CASE("what does not end, or what a kubelet renews, is never due")
{
    const sys_seconds late(365 * 24h);
    TokenClaims endless = lives(day);
    endless.expires.reset();

    for (const TokenClaims &claims :
         {endless, lives(day, R"(,"kubernetes.io":{"pod":{"name":"p"}})"),
          token_claims(jwt(R"({"sub":"alice","iat":0,"exp":3600})")),
          token_claims("opaque")}) {
        CHECK_FALSE(token_is_due(claims, late));
        CHECK_FALSE(token_is_late(claims, late));
    }
}

TEST_CASE("the same life is asked for, an hour at least and 30 days at most")
{
    CHECK(asked_life(600) == 3600);
    CHECK(asked_life(7 * day) == 7 * day);
    CHECK(asked_life(365 * day) == 30 * day);
}

TEST_CASE("a token that is bound to a Secret stays bound to it")
{
    auto body = Json::parse(token_request_body(
        lives(day, R"(,"kubernetes.io":{"secret":{"name":"s","uid":"u"}})")));
    CHECK(body->text("spec/boundObjectRef/kind") == "Secret");
    CHECK(body->text("spec/boundObjectRef/name") == "s");
    CHECK(body->text("spec/boundObjectRef/uid") == "u");
    CHECK_FALSE(Json::parse(token_request_body(lives(day)))
                    ->at("spec/boundObjectRef")
                    .present());
}

TEST_CASE("the request is for the ServiceAccount of the token itself")
{
    const std::string fresh = agent_token(day / 2, 2 * day);
    TlsServer server([&](const TlsServer::Request &, TlsServer::Peer &peer) {
        peer.send(reply_text(201, answer(fresh)));
    });
    Http http(server.endpoint());

    CHECK(request_token(http, lives(day)) == fresh);

    REQUIRE(server.requests().size() == 1);
    CHECK(server.requests()[0].method == "POST");
    CHECK(server.requests()[0].target ==
          "/api/v1/namespaces/slurm-k8s-bridge/serviceaccounts/slurmk8sd/"
          "token");
}

TEST_CASE("an answer that is no better token is none")
{
    CHECK(ask(403, "{}").error().code == Code::denied);
    CHECK(ask(503, "{}").error().code == Code::busy);
    for (const std::string &body :
         {std::string("{}"), std::string("no JSON"), answer("opaque"),
          answer(agent_token(0, day)),
          answer(jwt(R"({"sub":"system:serviceaccount:a:b","exp":999999})"))})
        CHECK(ask(201, body).error().code == Code::internal);
}
