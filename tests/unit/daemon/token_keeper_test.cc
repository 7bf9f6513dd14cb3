// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/token_keeper.h"

#include "common/base/mailbox.h"
#include "common/base/read_file.h"
#include "tests/unit/fakes/jwt.h"
#include "tests/unit/fakes/tls_server.h"

#include <atomic>
#include <doctest/doctest.h>
#include <string>
#include <sys/stat.h>

using namespace bridge;
using namespace std::chrono_literals;
using std::chrono::sys_seconds;

namespace {

constexpr long day = 24 * 3600;

struct Server {
    std::string fresh = agent_token(day / 2, 2 * day);
    std::atomic<int> status = 201;
    TlsServer tls{[this](const TlsServer::Request &, TlsServer::Peer &peer) {
        peer.send(
            reply_text(status, R"({"status":{"token":")" + fresh + "\"}}"));
    }};

    std::string kept() const
    {
        return read_file(tls.endpoint().token_file, any_size).value_or("");
    }
    std::string look(sys_seconds now,
                     const Access &access = Access::unlimited()) const
    {
        return keep_token(tls.endpoint(), access, now);
    }
};

} // namespace

TEST_CASE("the token is left alone for half of its life, and then replaced")
{
    Server server;
    server.tls.write_token(agent_token(0, day));

    CHECK(server.look(sys_seconds(11h)) == "");
    CHECK(server.tls.requests().empty());

    CHECK(server.look(sys_seconds(12h)) == "");
    CHECK(server.kept() == server.fresh + "\n");
    struct stat facts{};
    REQUIRE(stat(server.tls.endpoint().token_file.c_str(), &facts) == 0);
    CHECK((facts.st_mode & 07777) == 0400);

    CHECK(server.look(sys_seconds(13h)) == "");
    CHECK(server.tls.requests().size() == 1);
}

TEST_CASE("a renewal that fails is a problem, and the old token stays")
{
    Server server;
    const std::string old = agent_token(0, day);
    server.tls.write_token(old);
    server.status = 403;

    std::string problem = server.look(sys_seconds(12h));

    CHECK(problem.contains("expires at 1970-01-02T00:00:00Z"));
    CHECK(problem.contains("403"));
    CHECK(server.kept().starts_with(old));
}

TEST_CASE("without the right nothing is asked, and only a late token is a "
          "problem")
{
    Server server;
    server.tls.write_token(agent_token(0, day));
    Access access;
    access.set({{{Feature::token_renewal, "create", "", "serviceaccounts",
                  "token", Right::Where::own_account}}});

    CHECK(server.look(sys_seconds(12h), access) == "");
    CHECK(server.look(sys_seconds(18h), access)
              .contains("may not create serviceaccounts/token"));
    CHECK(server.tls.requests().empty());
}

TEST_CASE("no token is no news here: every request says so")
{
    Server server;
    server.tls.write_token("");
    CHECK(server.look(sys_seconds(12h)) == "");
}

TEST_CASE("the thread waits for the rights, tells what changes, and ends at "
          "once")
{
    Server server;
    server.tls.write_token(agent_token(0, day)); // expired since 1970
    server.status = 500;
    Access access;
    Mailbox<std::string> news;

    TokenKeeper keeper(server.tls.endpoint(), access,
                       [&](std::string n) { news.push(std::move(n)); });
    access.set({});
    auto told = news.pop_until(std::chrono::steady_clock::now() + 20s);
    REQUIRE(told.has_value());
    CHECK((*told).contains("500"));

    server.status = 201;
    keeper.look_now();
    told = news.pop_until(std::chrono::steady_clock::now() + 20s);
    REQUIRE(told.has_value());
    CHECK((*told).empty());
    CHECK(server.kept() == server.fresh + "\n");
}
