// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/serve.h"

#include "common/base/backoff.h"
#include "common/base/log.h"
#include "common/base/read_file.h"
#include "common/kube/lease_api.h"
#include "common/kube/text.h"
#include "common/web/page_server.h"
#include "config.h"
#include "operator/daemon/owner.h"
#include "operator/daemon/watches.h"

#include <chrono>
#include <csignal>
#include <exception>
#include <format>
#include <memory>
#include <random>
#include <thread>
#include <unistd.h>

namespace bridge::slinky {

namespace {

constexpr int exit_replaced = 3; // another operator acts
constexpr std::size_t web_threads = 8;
constexpr std::chrono::seconds lease_timeout{5};
constexpr std::size_t longest_name = 4096; // bytes of the Pod's namespace file
constexpr char namespace_file[] =
    "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

std::string wall_time()
{
    return micro_time(std::chrono::system_clock::now());
}

std::string this_instance()
{
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    std::random_device random;
    return std::format("{}_{:08x}{:08x}", host, random(), random());
}

Result<std::string> lease_namespace(const Options &options)
{
    if (!options.lease_namespace.empty())
        return options.lease_namespace;
    auto text = read_file(namespace_file, longest_name);
    if (!text || !is_object_name(*text))
        return fail(Code::not_found,
                    "--lease-namespace is missing, and this process runs in no "
                    "Pod");
    return *text;
}

sigset_t our_signals()
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return set;
}

// The owner thread hears of the Lease by its news.
void keep_lease(const std::stop_token &stop, Leader &leader,
                Mailbox<News> &mailbox)
{
    bool led = false;
    while (!stop.stop_requested() && !leader.is_lost()) {
        auto begun = std::chrono::steady_clock::now();
        try {
            leader.step(begun, wall_time());
        } catch (const std::exception &e) { // such as out of memory
            log_error("cannot check the Lease, retrying", {{"err", e.what()}});
        }
        bool leads = leader.may_write(std::chrono::steady_clock::now());
        if (leads != led)
            mailbox.push(WatchSays{"Lease", {}});
        led = leads;
        wait_for(step_interval, stop);
    }
    if (leader.is_lost())
        mailbox.push(Stop{});
}

void wait_for_signal(const std::stop_token &stop, Mailbox<News> &mailbox)
{
    sigset_t set = our_signals();
    int signal = 0;
    if (sigwait(&set, &signal) == 0 && !stop.stop_requested())
        mailbox.push(Stop{});
}

// A page for probes: what is wrong, as a line.
PageReply probe(const std::string &said)
{
    return probe_page(said.empty() ? said : said + "\n");
}

// All arguments must outlive the server.
Result<std::unique_ptr<PageServer>> start_web(const std::string &address,
                                              const Owner &owner,
                                              const Metrics &metrics)
{
    using Request = PageRequest;
    return PageServer::start(
        address, "--web-address " + address, web_threads,
        {{"/healthz", [&](const Request &) { return probe(owner.healthz()); }},
         {"/readyz", [&](const Request &) { return probe(owner.readyz()); }},
         {"/metrics", [&](const Request &request) {
              return metrics_page(request, [&](MetricFormat format) {
                  return metrics.text(format);
              });
          }}});
}

} // namespace

// The order of construction matters: objects refer to those before them.
Result<int> serve(const Options &options, HttpEndpoint endpoint)
{
    auto ns = lease_namespace(options);
    if (!ns)
        return std::unexpected(ns.error());
    sigset_t set = our_signals(); // blocked in every thread made from here on
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::stop_source give_up;
    endpoint.give_up = give_up.get_token();
    HttpEndpoint quick = endpoint;
    quick.timeout = lease_timeout;

    std::string us = this_instance();
    Mailbox<News> mailbox;
    Metrics metrics;
    LeaseApi lease(quick, *ns, options.lease_name);
    Leader leader(lease, us);
    Lanes lanes({endpoint, leader, metrics, us, mailbox});
    Watches watches(endpoint, options.namespaces, mailbox);
    Owner owner({mailbox, lanes, leader, metrics, watches},
                options.agent_image);
    auto web = start_web(options.web_address, owner, metrics);
    if (!web)
        return std::unexpected(web.error());
    std::jthread keeper([&](const std::stop_token &stop) {
        keep_lease(stop, leader, mailbox);
    });
    std::jthread signals(
        [&](const std::stop_token &stop) { wait_for_signal(stop, mailbox); });

    log_info("started", {{"version", PACKAGE_VERSION},
                         {"KubeApiServer", endpoint.server},
                         {"Lease", *ns + "/" + options.lease_name}});
    owner.run();
    log_info("stopping");
    lanes.stop();
    signals.request_stop();
    kill(getpid(), SIGTERM); // wakes the thread, if the Lease was lost
    keeper.request_stop();
    keeper.join();
    leader.give_back(wall_time());
    give_up.request_stop();
    return leader.is_lost() ? exit_replaced : 0;
}

} // namespace bridge::slinky
