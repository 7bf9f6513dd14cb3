// SPDX-License-Identifier: GPL-2.0-or-later
// slurmk8s-operator(8): options, and the address of the API server.
#include "common/base/log.h"
#include "common/kube/endpoint.h"
#include "config.h"
#include "operator/daemon/left.h"
#include "operator/daemon/options.h"
#include "operator/daemon/serve.h"

#include <csignal>
#include <cstdio>
#include <curl/curl.h>
#include <exception>
#include <malloc.h>

namespace bridge::slinky {

namespace {

int fail_start(const Error &error)
{
    log_error("cannot start", {{"err", error.message}});
    return 1;
}

constexpr int exit_left = 4; // there are objects

int check_unused(const Options &options, const HttpEndpoint &endpoint)
{
    auto left = objects_left(endpoint, options.namespaces);
    if (!left)
        return fail_start(left.error());
    std::puts(left->empty() ? "No Controller and no NodeSet is there."
                            : left->c_str());
    return left->empty() ? 0 : exit_left;
}

int run(int argc, char **argv)
{
    auto options = parse_options(argc, argv);
    if (!options) {
        std::fprintf(stderr,
                     "slurmk8s-operator: %s\n"
                     "Try 'slurmk8s-operator --help'.\n",
                     options.error().message.c_str());
        return 2;
    }
    if (options->help || options->version) {
        std::fputs(options->help ? help_text : PACKAGE_STRING "\n", stdout);
        return 0;
    }
    auto endpoint =
        find_endpoint(options->server, options->ca_file, options->token_file);
    if (!endpoint)
        return fail_start(endpoint.error());
    endpoint->user_agent = "slurmk8s-operator/" PACKAGE_VERSION;
    set_log_level(options->log_level);
    // Otherwise each thread's arena would keep the peak of the largest list
    // that it has read.
    mallopt(M_ARENA_MAX, 2);
    std::signal(SIGPIPE, SIG_IGN);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (options->check_unused)
        return check_unused(*options, *endpoint);
    auto exit_code = serve(*options, *endpoint);
    return exit_code ? *exit_code : fail_start(exit_code.error());
}

} // namespace

} // namespace bridge::slinky

int main(int argc, char **argv)
try {
    return bridge::slinky::run(argc, argv);
} catch (const std::exception &e) {
    bridge::log_error("ended by an exception", {{"err", e.what()}});
    return 1;
}
