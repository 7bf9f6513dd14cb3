// SPDX-License-Identifier: GPL-2.0-or-later
// slurmk8sd(8): options, configuration, signals, and the wiring of the threads.
#include "agent/access_watch.h"
#include "agent/bridge.h"
#include "agent/controllers.h"
#include "agent/endpoint.h"
#include "agent/fault_points.h"
#include "agent/guarded_kube.h"
#include "agent/guarded_slurm.h"
#include "agent/hook_server.h"
#include "agent/lease_api.h"
#include "agent/lease_keeper.h"
#include "agent/notify.h"
#include "agent/slurm_api.h"
#include "agent/watches.h"
#include "agent/web.h"
#include "agent/workers.h"
#include "common/batch_names.h"
#include "common/log.h"
#include "config.h"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <curl/curl.h>
#include <future>
#include <getopt.h>
#include <malloc.h>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <unistd.h>

namespace bridge {

namespace {

constexpr unsigned reporter_count = 2;
constexpr std::chrono::seconds patience{5}; // with the owner thread
constexpr int exit_replaced = 3; // another agent acts
constexpr std::chrono::seconds lease_timeout{10}; // of a request about the Lease
constexpr std::chrono::seconds stop_patience{1};

constexpr char help[] =
    "Usage: slurmk8sd [-f FILE] [-t]\n"
    "Makes Slurm the scheduler of Kubernetes Pods. Runs in the foreground, as\n"
    "SlurmUser, beside slurmctld.\n"
    "\n"
    "  -f, --conf FILE  configuration instead of /etc/slurm/k8s.conf\n"
    "  -t, --test       check the configuration and exit\n"
    "  -V, --version    print the version and exit\n"
    "  -h, --help       print this and exit\n"
    "\n"
    "SIGHUP reads the configuration again. See slurmk8sd(8) and k8s.conf(5).\n";

struct Options {
    std::string conf_path = names::default_conf_path;
    bool test = false;
    int exit_code = -1; // >= 0: exit at once
};

Options parse_options(int argc, char **argv)
{
    static const option long_options[] = {{"conf", required_argument, {}, 'f'},
                                          {"test", no_argument, {}, 't'},
                                          {"version", no_argument, {}, 'V'},
                                          {"help", no_argument, {}, 'h'},
                                          {}};
    Options options;
    int c;
    while ((c = getopt_long(argc, argv, "f:tVh", long_options, nullptr)) != -1) {
        switch (c) {
        case 'f':
            options.conf_path = optarg;
            break;
        case 't':
            options.test = true;
            break;
        case 'V':
            std::puts(PACKAGE_STRING);
            options.exit_code = 0;
            return options;
        case 'h':
            std::fputs(help, stdout);
            options.exit_code = 0;
            return options;
        default:
            std::fputs("Try 'slurmk8sd --help'.\n", stderr);
            options.exit_code = 2;
            return options;
        }
    }
    if (optind < argc) {
        std::fprintf(stderr, "slurmk8sd: unexpected argument '%s'\n",
                     argv[optind]);
        options.exit_code = 2;
    }
    return options;
}

sigset_t our_signals()
{
    sigset_t set;
    sigemptyset(&set);
    for (int signal : {SIGTERM, SIGINT, SIGHUP})
        sigaddset(&set, signal);
    return set;
}

// With what is in the files that it names.
Result<Conf> load_all(const std::string &path)
{
    auto conf = load_conf(path);
    if (!conf)
        return conf;
    if (auto read = read_batch_template(*conf); !read)
        return fail(read.error(), path);
    return conf;
}

// All or nothing: a file with a mistake changes nothing.
void reload(const std::string &path, Mailbox<Message> &mailbox)
{
    auto conf = load_all(path);
    if (!conf) {
        log_error("the configuration was not read again",
                  {{"err", conf.error().message}});
        return;
    }
    set_log_level(conf->log_level);
    log_info("the configuration was read again", {{"file", path}});
    mailbox.push(Reload{std::make_shared<const Conf>(std::move(*conf))});
}

// Until stop is requested and a signal comes after that.
void serve_signals(std::stop_token stop, const std::string &path,
                   Mailbox<Message> &mailbox)
{
    sigset_t set = our_signals();
    for (;;) {
        int signal = 0;
        if (sigwait(&set, &signal) != 0 || stop.stop_requested())
            return;
        if (signal == SIGHUP)
            reload(path, mailbox);
        else
            mailbox.push(Stop{});
    }
}

// Asks the owner thread from another one; else when it does not answer.
template <class Answer>
Answer ask(Mailbox<Message> &mailbox, std::function<Answer()> what,
           Answer otherwise)
{
    auto promise = std::make_shared<std::promise<Answer>>();
    auto answer = promise->get_future();
    mailbox.push(Ask{[promise, what] { promise->set_value(what()); }});
    if (answer.wait_for(patience) != std::future_status::ready)
        return otherwise;
    return answer.get();
}

constexpr char silent[] = "the owner thread does not answer";

Result<Story> ask_story(const StoryKey &key, Bridge &bridge,
                        Mailbox<Message> &mailbox)
{
    return ask<Result<Story>>(
        mailbox, [key, &bridge] { return bridge.story(key); },
        fail(Code::busy, silent));
}

Web::Pages pages_of(Bridge &bridge, Mailbox<Message> &mailbox, Slurm &slurm)
{
    using Text = std::string;
    auto explain_page = std::make_shared<ExplainPage>(
        [&](const StoryKey &key) { return ask_story(key, bridge, mailbox); },
        slurm);
    auto problems = [&bridge] {
        std::string lines;
        bool standby = !bridge.standby().empty();
        for (const auto &[what, why] : bridge.health().problems())
            if (standby ? what == lease_problem // nothing else is our business
                        : what != nodes_problem) // the other nodes are served
                lines += what + ": " + why + "\n";
        return lines;
    };
    return {
        [=, &mailbox] {
            return ask<Text>(mailbox, problems, Text(silent) + "\n");
        },
        [&] {
            return ask<Text>(mailbox, [&] { return bridge.metrics(); }, {});
        },
        [&] {
            return ask<Text>(
                mailbox, [&] { return bridge.status_json(); }, "{}");
        },
        [explain_page](const Text &pod, const Text &job) {
            return explain_page->answer(pod, job);
        }};
}

std::string host_name()
{
    char name[256] = "";
    gethostname(name, sizeof(name) - 1);
    return name;
}

int fail_start(const Error &error)
{
    log_error("cannot start", {{"err", error.message}});
    return 1;
}

// Says which slurmctld is in control; with a single one there is no question.
Result<std::function<Control()>> control_of_this_host()
{
    auto controllers = load_controllers();
    if (!controllers)
        return std::unexpected(controllers.error());
    if (controllers->hosts.size() < 2)
        return [] { return Control::ours; };
    auto us = find_controller(*controllers, host_name());
    if (!us)
        return std::unexpected(us.error());
    return [controllers = std::move(*controllers), us = *us] {
        return last_in_control(controllers, us);
    };
}

std::string scripts_dir()
{
    auto controllers = load_controllers();
    return controllers && !controllers->state_save_location.empty()
               ? controllers->state_save_location + "/" + names::scripts_dir
               : std::string();
}

HttpEndpoint lease_endpoint(HttpEndpoint endpoint)
{
    endpoint.timeout = lease_timeout;
    return endpoint;
}

// Until Stop. What cannot go on is rebuilt by the next start.
void own(Bridge &bridge)
{
    try {
        bridge.run();
    } catch (const std::exception &e) { // such as no memory
        log_error("the owner thread failed", {{"err", e.what()}});
        std::_Exit(1);
    }
}

// What is under way at the end may take this long, then it is cut off: a
// supervisor must not wait for an API server that does not answer, nor for a
// slurmctld, whose calls cannot be ended but with the process.
std::jthread cut_off(std::stop_source &give_up, int exit_code)
{
    return std::jthread([&give_up, exit_code](std::stop_token over) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        auto is_over = [&] {
            return std::condition_variable_any().wait_for(
                lock, over, stop_patience, [&] { return over.stop_requested(); });
        };
        if (is_over())
            return;
        give_up.request_stop();
        if (is_over())
            return;
        log_warning("slurmctld does not answer, ending all the same");
        std::_Exit(exit_code);
    });
}

int serve(std::shared_ptr<const Conf> conf, const std::string &conf_path,
          HttpEndpoint endpoint)
{
    std::stop_source give_up;
    endpoint.give_up = give_up.get_token();
    Mailbox<Message> mailbox;
    Permit permit(conf->socket_path);
    WriteGate gate([&] { return permit.check(); }, fault_points());
    SlurmApi slurm_api;
    GuardedSlurm slurm(slurm_api, gate);
    auto make_kube = [&]() -> std::unique_ptr<Kube> {
        return std::make_unique<GuardedKube>(
            std::make_unique<KubeApi>(endpoint, "slurmk8sd", host_name()), gate);
    };
    Workers workers(conf->workers, make_kube);
    Workers submitters(std::max(1u, conf->workers / 2), make_kube);
    Workers reporters(reporter_count, make_kube);
    auto hooks = HookServer::start(
        conf->socket_path,
        {[&](HookMessage m, PluginConnection from) {
             mailbox.push(HookReceived{std::move(m), from});
         },
         [&] { mailbox.push(HookLost{}); }},
        gate);
    if (!hooks)
        return fail_start(hooks.error());
    permit.set_socket((*hooks)->socket());
    auto control = control_of_this_host();
    if (!control)
        return fail_start(control.error());
    Access access;
    Bridge bridge(conf,
                  {slurm, submitters.tasks(), workers.tasks(),
                   reporters.tasks(),
                   [&](HookMessage m, PluginConnection to) {
                       (*hooks)->send(std::move(m), to);
                   },
                   access,
                   {group_apis.begin(), group_apis.end()},
                   scripts_dir()},
                  mailbox);
    auto web = Web::start(conf->web_address, pages_of(bridge, mailbox, slurm));
    if (!web)
        return fail_start(web.error());
    AccessWatch access_watch(lease_endpoint(endpoint), *conf, access,
                             [&](AccessNews n) { mailbox.push(std::move(n)); });
    std::optional<Watches> watches; // once the Lease is ours
    LeaseApi lease(lease_endpoint(endpoint), conf->lease_namespace,
                   conf->lease_name, gate);
    LeaseKeeper keeper(
        {lease, permit, *control}, this_holder(host_name(), conf->socket_path),
        {[&] { watches.emplace(endpoint, *conf, access, mailbox); },
         [&](LeaseNews news) { mailbox.push(std::move(news)); },
         [&](const std::string &why) {
             log_warning("acts no longer", {{"err", why}});
             mailbox.push(Stop{});
         }});
    LeaseThread lease_thread(keeper);
    std::jthread signals([&](std::stop_token stop) {
        serve_signals(stop, conf_path, mailbox);
    });

    log_info("started", {{"version", PACKAGE_VERSION},
                         {"KubeApiServer", endpoint.server},
                         {"Socket", conf->socket_path}});
    notify_systemd("READY=1");
    own(bridge);
    notify_systemd("STOPPING=1");
    log_info("stopping");
    std::jthread ends_requests =
        cut_off(give_up, keeper.ended() ? exit_replaced : 0);
    signals.request_stop();
    kill(getpid(), SIGTERM); // wakes the signal thread
    signals.join();
    for (Workers *pool : {&submitters, &workers, &reporters})
        pool->stop(); // tasks refer to the bridge
    lease_thread.stop();
    keeper.give_back(); // nothing is written any more
    return keeper.ended() ? exit_replaced : 0;
}

int run(int argc, char **argv)
{
    Options options = parse_options(argc, argv);
    if (options.exit_code >= 0)
        return options.exit_code;
    auto conf = load_all(options.conf_path);
    if (!conf)
        return fail_start(conf.error());
    auto endpoint = endpoint_of(*conf);
    if (!endpoint)
        return fail_start(endpoint.error());
    if (options.test) {
        std::printf("%s is well formed\n", options.conf_path.c_str());
        return 0;
    }
    set_log_level(conf->log_level);
    // Each worker's arena would keep the peak of the largest list it has read.
    mallopt(M_ARENA_MAX, 2);
    std::signal(SIGPIPE, SIG_IGN);
    sigset_t set = our_signals(); // blocked in every thread made from here on
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    return serve(std::make_shared<const Conf>(std::move(*conf)),
                 options.conf_path, *endpoint);
}

} // namespace

} // namespace bridge

int main(int argc, char **argv)
try {
    return bridge::run(argc, argv);
} catch (const std::exception &e) {
    bridge::log_error("ended by an exception", {{"err", e.what()}});
    return 1;
}
