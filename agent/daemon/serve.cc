// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/serve.h"

#include "agent/calls/call_counts.h"
#include "agent/calls/counted_census.h"
#include "agent/calls/fault_points.h"
#include "agent/calls/guarded_lease.h"
#include "agent/calls/guarded_queue.h"
#include "agent/calls/guarded_slurm.h"
#include "agent/calls/volume_list.h"
#include "agent/calls/workers.h"
#include "agent/daemon/access_watch.h"
#include "agent/daemon/census_thread.h"
#include "agent/daemon/hook_server.h"
#include "agent/daemon/lease_keeper.h"
#include "agent/daemon/memory_thread.h"
#include "agent/daemon/notify.h"
#include "agent/daemon/own_conf.h"
#include "agent/daemon/token_keeper.h"
#include "agent/daemon/watches.h"
#include "agent/daemon/web_pages.h"
#include "agent/daemon/worker_thread.h"
#include "agent/owner/owner.h"
#include "agent/session/job_session.h"
#include "agent/session/login_check.h"
#include "agent/session/server.h"
#include "common/base/backoff.h"
#include "common/base/log.h"
#include "common/base/user_name.h"
#include "common/contract/batch_names.h"
#include "common/contract/names.h"
#include "common/contract/unit_user.h"
#include "common/kube/lease_api.h"
#include "common/slurm/api.h"
#include "common/slurm/load_controllers.h"
#include "config.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
namespace bridge {

namespace {

// More would take the API server's time from bindings: with four, Pods beside a
// crowd that is refused wait half as long again (tests/long/47-one-user.t).
constexpr unsigned reporter_count = 2;
constexpr unsigned most_submitters = 8; // more would only wait for one lock
constexpr int exit_replaced = 3;        // another agent acts
constexpr std::chrono::seconds lease_timeout{
    10}; // of a request about the Lease
constexpr std::chrono::seconds stop_patience{1};

sigset_t our_signals()
{
    sigset_t set;
    sigemptyset(&set);
    for (int signal : {SIGTERM, SIGINT, SIGHUP})
        sigaddset(&set, signal);
    return set;
}

// In every thread that is made from here on, too.
void block_our_signals()
{
    sigset_t set = our_signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

// A file with a mistake changes nothing.
void reload(const LoadConf &load, Mailbox<Message> &mailbox)
{
    auto conf = load();
    if (!conf) {
        log_error("the configuration was not read again",
                  {{"err", conf.error().message}});
        return;
    }
    set_log_level(conf->log_level);
    log_info("the configuration was read again");
    mailbox.push(Reload{std::make_shared<const Conf>(std::move(*conf))});
}

// Runs until stop is requested and a signal comes after that.
void serve_signals(std::stop_token stop, const LoadConf &load,
                   Mailbox<Message> &mailbox, AccessWatch &access,
                   TokenKeeper &token)
{
    sigset_t set = our_signals();
    for (;;) {
        int signal = 0;
        if (sigwait(&set, &signal) != 0 || stop.stop_requested())
            return;
        if (signal == SIGHUP) {
            reload(load, mailbox);
            access.ask_now();
            token.look_now();
        } else {
            mailbox.push(Stop{});
        }
    }
}

std::string host_name()
{
    char name[256] = "";
    gethostname(name, sizeof(name) - 1);
    return name;
}

// slurmctld refuses what other users ask for, or the plugin never connects, and
// Pods would wait for that without a reason. Where libslurm does not tell who
// SlurmUser is, that shows later.
Result<> check_our_user()
{
    auto slurm_user = load_slurm_user();
    if (!slurm_user) {
        log_warning("cannot check as whom this agent has to run",
                    {{"err", slurm_user.error().message}});
        return {};
    }
    std::string reason =
        wrong_user_reason(geteuid(), user_name(geteuid()), *slurm_user);
    return reason.empty() ? Result<>{} : fail(Code::rejected, reason);
}

// Returns a function that says which slurmctld is in control. With only one
// slurmctld, it is always ours. Fails where no agent of this user or on this
// host may act.
Result<std::function<Control()>> control_of_this_host()
{
    if (auto ours = check_our_user(); !ours)
        return std::unexpected(ours.error());
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

// Returns a path in StateSaveLocation, or "" if libslurm does not know that
// directory.
std::string state_dir(const char *name)
{
    auto controllers = load_controllers();
    return controllers && !controllers->state_save_location.empty()
               ? controllers->state_save_location + "/" + name
               : std::string();
}

// A standby serves users, too, because everything that users are shown comes
// from Kubernetes.
Result<std::unique_ptr<SessionServer>> serve_users(const SessionConf &where,
                                                   const Conf &conf,
                                                   const HttpEndpoint &endpoint)
{
    JobSessions sessions{endpoint, conf.batch_namespaces, geteuid(),
                         where.attach};
    if (!conf.batch_namespace.empty())
        sessions.namespaces.push_back(conf.batch_namespace);
    constexpr std::chrono::seconds patience{1};
    auto logins = std::make_shared<LoginCheck>(
        LoginDir(state_dir(names::logins_dir)), patience);
    return SessionServer::start(
        where,
        [logins](const std::string &secret,
                 const std::function<bool()> &goes_on) {
            return logins->user_of(secret,
                                   std::chrono::floor<std::chrono::seconds>(
                                       std::chrono::system_clock::now()),
                                   goes_on);
        },
        [sessions](PeerStream &peer, const SessionRequest &request,
                   uid_t caller, const std::stop_token &stop) {
            return serve_session(sessions, peer, request, caller, stop);
        });
}

HttpEndpoint lease_endpoint(HttpEndpoint endpoint)
{
    endpoint.timeout = lease_timeout;
    return endpoint;
}

// Runs the owner thread until Stop. After an exception the process ends, and
// the next start rebuilds the state.
void own(Owner &owner)
{
    try {
        owner.run();
    } catch (const std::exception &e) { // such as out of memory
        log_error("the owner thread failed", {{"err", e.what()}});
        std::_Exit(1);
    }
}

// Work that is under way at the end may take this long. Then it is cut off: the
// service manager must not wait for an API server that does not answer, nor for
// slurmctld, whose calls end only with the process. It lasts from begin() to
// the end of its scope.
class CutOff {
  public:
    explicit CutOff(std::stop_source &give_up) : give_up_(give_up) {}

    void begin(int exit_code)
    {
        thread_ = std::jthread([this, exit_code](const std::stop_token &over) {
            if (is_over(over))
                return;
            give_up_.request_stop();
            if (is_over(over))
                return;
            log_warning("slurmctld does not answer, stopping anyway");
            std::_Exit(exit_code);
        });
    }

  private:
    static bool is_over(const std::stop_token &over)
    {
        return !wait_for(stop_patience, over);
    }

    std::stop_source &give_up_;
    std::jthread thread_;
};

// Returns a factory of connections to the API server whose writes pass the
// gate, and which share the list of volumes. The endpoint and the gate must
// outlive the factory.
Workers::KubeFactory kube_factory(const HttpEndpoint &endpoint,
                                  const WriteGate &gate,
                                  const std::shared_ptr<VolumeList> &volumes)
{
    return [&endpoint, &gate, volumes]() -> std::unique_ptr<Kube> {
        return std::make_unique<KubeApi>(endpoint, gate, "slurmk8sd",
                                         host_name(), volumes);
    };
}

// The calls to Slurm and Kubernetes, and the pools of threads that make them.
// All are counted, and all writes pass the gate. Members are destroyed from the
// last to the first: the pools use all others.
struct Calls {
    // Whatever uses the endpoint from here on is counted.
    Calls(const Conf &conf, HttpEndpoint &endpoint)
        : counts(counted(endpoint)), permit(conf.socket_path),
          gate([this] { return permit.check(); }, fault_points()),
          slurm(slurm_api, gate, *counts), queue(queue_api, gate, *counts),
          workers(conf.workers, kube_factory(endpoint, gate, volumes)),
          submitters(std::clamp(conf.workers / 2, 1u, most_submitters),
                     kube_factory(endpoint, gate, volumes)),
          reporters(reporter_count, kube_factory(endpoint, gate, volumes),
                    [this] { return submitters.busy() || workers.busy(); })
    {
    }

    void stop()
    {
        for (Workers *pool : {&submitters, &workers, &reporters})
            pool->stop();
    }

    static std::shared_ptr<CallCounts> counted(HttpEndpoint &endpoint)
    {
        auto counts = std::make_shared<CallCounts>();
        endpoint.observer = counts;
        return counts;
    }

    const std::shared_ptr<CallCounts> counts;
    Permit permit;
    WriteGate gate;
    SlurmApi slurm_api;
    GuardedSlurm slurm;
    SlurmQueueApi queue_api;
    GuardedQueue queue;
    SlurmCensusApi census_api;
    CountedCensus census{census_api, *counts};
    SlurmMetrics metrics;
    const std::shared_ptr<VolumeList> volumes = std::make_shared<VolumeList>();
    Workers workers;
    Workers submitters;
    Workers reporters;
};

// Returns the sink that passes on what prep/k8s sends to the owner thread.
HookServer::Sink hook_sink(Mailbox<Message> &mailbox)
{
    return {[&mailbox](HookMessage m, PluginConnection from) {
                mailbox.push(HookReceived{std::move(m), from});
            },
            [&mailbox] { mailbox.push(HookLost{}); }};
}

// Returns what the owner needs to act. The arguments must outlive the owner.
BridgePorts ports_of(Calls &calls, HookServer &hooks, const Access &access,
                     GroupLooks &looks, Mailbox<WorkerNews> &worker_news)
{
    return {calls.slurm,
            calls.submitters.tasks(),
            calls.workers.tasks(),
            calls.reporters.tasks(),
            [&hooks](HookMessage m, PluginConnection to) {
                hooks.send(std::move(m), to);
            },
            access,
            {group_apis.begin(), group_apis.end()},
            state_dir(names::scripts_dir),
            PKGLIBEXECDIR "/slurmk8s-srun",
            [&looks](GroupApi api) { return looks.ask(api); },
            [&worker_news] { worker_news.push(WorkerJob{}); }};
}

WebPages all_pages(Owner &owner, Mailbox<Message> &mailbox, Calls &calls,
                   const HttpEndpoint &endpoint, const Conf &conf)
{
    return pages_of(owner, mailbox, calls.slurm,
                    {calls.metrics, *calls.counts, endpoint.token_file,
                     conf.metrics_token_file});
}

// The thread that holds the Lease, and the watches that begin once it is ours.
// Members are destroyed from the last to the first: the thread uses all others.
// The constructor keeps references to its arguments.
struct LeaseHolding {
    LeaseHolding(const Conf &conf, const HttpEndpoint &endpoint, Calls &calls,
                 std::function<Control()> control, const Access &access,
                 GroupLooks &looks, Mailbox<Message> &mailbox,
                 Mailbox<WorkerNews> &worker_news, OwnConf *own)
        : api(lease_endpoint(endpoint), conf.lease_namespace, conf.lease_name),
          lease(api, calls.gate),
          keeper(
              {lease, calls.permit, std::move(control)},
              this_holder(host_name(), conf.socket_path),
              {[this, &conf, &endpoint, &calls, &access, &looks, &mailbox,
                &worker_news, own] {
                   if (conf.schedule_pods)
                       watches.emplace(endpoint, conf, access, looks, mailbox);
                   else
                       mailbox.push(WatchState{start_problem, ""});
                   workers.emplace(endpoint, conf, calls.slurm, calls.queue,
                                   calls.gate, mailbox, worker_news, own);
                   if (conf.metrics_interval.count() != 0)
                       census.emplace(calls.census, calls.metrics,
                                      conf.metrics_interval, conf.metrics_users,
                                      names::job_history_file);
               },
               [&mailbox](LeaseNews news) { mailbox.push(std::move(news)); },
               [&mailbox](const std::string &reason) {
                   log_warning("this agent does not act any more",
                               {{"err", reason}});
                   mailbox.push(Stop{});
               }}),
          thread(keeper)
    {
    }
    // Whoever writes has stopped before. Counts of jobs do not go on once
    // another agent may begin with them.
    ~LeaseHolding()
    {
        thread.stop();
        census.reset();
        keeper.give_back();
    }
    LeaseHolding(const LeaseHolding &) = delete;
    LeaseHolding &operator=(const LeaseHolding &) = delete;

    // Set once the Lease is ours; without Pods to schedule there are none.
    std::optional<Watches> watches;
    std::optional<WorkerThread> workers; // likewise
    std::optional<CensusThread> census;  // once the Lease is ours
    LeaseApi api;
    GuardedLease lease;
    LeaseKeeper keeper;
    LeaseThread thread;
};

// The thread of serve_signals().
class SignalThread {
  public:
    template <class Serve>
    explicit SignalThread(Serve serve) : thread_(std::move(serve))
    {
    }
    ~SignalThread()
    {
        thread_.request_stop();
        kill(getpid(), SIGTERM); // wakes it
    }
    SignalThread(const SignalThread &) = delete;
    SignalThread &operator=(const SignalThread &) = delete;

  private:
    std::jthread thread_;
};

// Stops the owner thread when k8s.conf has changed, if that is followed.
class Following {
  public:
    Following(OwnConf *own, Mailbox<Message> &mailbox)
    {
        if (own)
            thread_.emplace(*own, [this, &mailbox] {
                log_info("k8s.conf has changed, starting anew");
                changed_ = true;
                mailbox.push(Stop{});
            });
    }

    int exit_code() const { return changed_ ? exit_anew : 0; }

  private:
    std::atomic<bool> changed_ = false;
    std::optional<OwnConfThread> thread_;
};

// Calls a function at the end of its scope.
template <class Function> class AtScopeEnd {
  public:
    explicit AtScopeEnd(Function function) : function_(std::move(function)) {}
    ~AtScopeEnd() { function_(); }
    AtScopeEnd(const AtScopeEnd &) = delete;
    AtScopeEnd &operator=(const AtScopeEnd &) = delete;

  private:
    Function function_;
};

void say_ready(const Conf &conf, const HttpEndpoint &endpoint)
{
    log_info("started", {{"version", PACKAGE_VERSION},
                         {"KubeApiServer", endpoint.server},
                         {"Socket", conf.socket_path}});
    notify_systemd("READY=1");
}

} // namespace

// The order of construction matters: objects refer to those before them, and
// end in the reverse order. At the end nobody asks any more, then the workers
// stop, whose tasks refer to the owner, and then the Lease is given back.
Result<int> serve(std::shared_ptr<const Conf> conf, const SessionConf &sessions,
                  HttpEndpoint endpoint, const LoadConf &load,
                  OwnConf *own_conf)
{
    block_our_signals();
    MemoryThread memory;
    std::stop_source give_up;
    endpoint.give_up = give_up.get_token();
    CutOff cut_off(give_up);
    Mailbox<Message> mailbox;
    Mailbox<WorkerNews> worker_news;
    Calls calls(*conf, endpoint);
    auto control = control_of_this_host(); // before anything is taken
    if (!control)
        return std::unexpected(control.error());
    auto hooks =
        HookServer::start(conf->socket_path, hook_sink(mailbox), calls.gate);
    if (!hooks)
        return std::unexpected(hooks.error());
    calls.permit.set_socket((*hooks)->socket());
    Access access;
    GroupLooks looks;
    Owner owner(conf, ports_of(calls, **hooks, access, looks, worker_news),
                mailbox);
    auto web = start_web(conf->web_address,
                         all_pages(owner, mailbox, calls, endpoint, *conf));
    if (!web)
        return std::unexpected(web.error());
    auto users = serve_users(sessions, *conf, endpoint);
    if (!users)
        return std::unexpected(users.error());
    AccessWatch access_watch(lease_endpoint(endpoint), *conf, access,
                             [&](AccessNews n) { mailbox.push(std::move(n)); });
    TokenKeeper token(lease_endpoint(endpoint), access,
                      [&](std::string problem) {
                          mailbox.push(WatchState{"token", std::move(problem)});
                      });
    LeaseHolding holding(*conf, endpoint, calls, *control, access, looks,
                         mailbox, worker_news, own_conf);
    AtScopeEnd stop_calls([&] { calls.stop(); });
    SignalThread signals([&](const std::stop_token &stop) {
        serve_signals(stop, load, mailbox, access_watch, token);
    });
    AtScopeEnd end_sessions([&] { users->reset(); });
    Following following(own_conf, mailbox);
    say_ready(*conf, endpoint);
    own(owner);
    notify_systemd("STOPPING=1");
    log_info("stopping");
    int exit_code =
        holding.keeper.ended() ? exit_replaced : following.exit_code();
    cut_off.begin(exit_code);
    return exit_code;
}

} // namespace bridge
