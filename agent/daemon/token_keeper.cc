// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/token_keeper.h"

#include "agent/calls/token_request.h"
#include "common/base/backoff.h"
#include "common/base/log.h"
#include "common/base/replace_file.h"
#include "common/base/system_error.h"
#include "common/kube/text.h"
#include "common/kube/token_file.h"

#include <exception>
#include <format>
#include <optional>
#include <unistd.h>
#include <utility>

namespace bridge {

namespace {

constexpr std::chrono::seconds token_interval{60};
// While it does not work: on a full disk each try asks for a token that nobody
// can use.
constexpr std::chrono::seconds token_longest{600};
constexpr mode_t token_mode = 0400;

// Whether the renewal can work at all here.
Result<> can_renew(const HttpEndpoint &endpoint, const Access &access)
{
    const std::string directory = directory_of(endpoint.token_file);
    if (!access.may(Feature::token_renewal))
        return fail(Code::denied, "slurmk8sd may not create "
                                  "serviceaccounts/token; \"kubectl apply -k " +
                                      feature_manifest(Feature::token_renewal) +
                                      "\" gives it");
    if (::access(directory.c_str(), W_OK) != 0)
        return fail_errno(Code::denied, "write " + directory);
    return {};
}

Result<TokenClaims> renew(const HttpEndpoint &endpoint,
                          const TokenClaims &claims)
{
    Http http(endpoint); // asked too seldom to keep a connection
    auto token = request_token(http, claims);
    if (!token)
        return std::unexpected(token.error());
    if (auto written = replace_file(endpoint.token_file, *token + "\n",
                                    {.mode = token_mode});
        !written)
        return std::unexpected(written.error());
    return token_claims(*token);
}

std::string not_renewed(const HttpEndpoint &endpoint, const TokenClaims &claims,
                        const Error &why)
{
    return std::format("{} expires at {} and is not renewed: {}",
                       endpoint.token_file, second_time(*claims.expires),
                       why.message);
}

} // namespace

std::string keep_token(const HttpEndpoint &endpoint, const Access &access,
                       std::chrono::sys_seconds now)
{
    auto token = TokenFile(endpoint.token_file).read({});
    if (!token)
        return {}; // every request says so
    TokenClaims claims = token_claims(*token);
    if (!token_is_due(claims, now))
        return {};
    if (auto can = can_renew(endpoint, access); !can)
        return token_is_late(claims, now)
                   ? not_renewed(endpoint, claims, can.error())
                   : std::string();
    auto fresh = renew(endpoint, claims);
    if (!fresh)
        return not_renewed(endpoint, claims, fresh.error());
    log_info("the token was renewed",
             {{"KubeTokenFile", endpoint.token_file},
              {"expires", second_time(*fresh->expires)}});
    return {};
}

TokenKeeper::TokenKeeper(HttpEndpoint endpoint, const Access &access, Tell tell)
    : endpoint_(std::move(endpoint)), access_(access), tell_(std::move(tell)),
      thread_([this](std::stop_token stop) { run(stop); })
{
}

void TokenKeeper::run(std::stop_token stop)
{
    endpoint_.give_up = stop;
    std::string told;
    std::chrono::seconds delay = token_interval;
    if (!access_.wait_until_answered(stop))
        return;
    while (!stop.stop_requested()) {
        try {
            std::string problem =
                keep_token(endpoint_, access_,
                           std::chrono::floor<std::chrono::seconds>(
                               std::chrono::system_clock::now()));
            if (stop.stop_requested())
                return;
            delay = problem.empty() ? token_interval
                                    : doubled(delay, token_longest);
            if (told != problem)
                tell_(told = std::move(problem));
        } catch (const std::exception &e) { // such as out of memory
            log_error("cannot look at the token, retrying",
                      {{"err", e.what()}});
        }
        wait(stop, delay);
    }
}

void TokenKeeper::look_now()
{
    std::lock_guard lock(mutex_);
    now_ = true;
    changed_.notify_all();
}

void TokenKeeper::wait(const std::stop_token &stop, std::chrono::seconds delay)
{
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, delay, [this] { return now_; });
    now_ = false;
}

} // namespace bridge
