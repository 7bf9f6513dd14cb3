// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/worker_thread.h"

#include "agent/daemon/watch_failures.h"
#include "common/base/log.h"
#include "common/contract/worker_names.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <utility>

namespace bridge {

namespace {

// Their names in the list of problems.
constexpr char problem[] = "serve workers";
constexpr char queue_problem[] = "follow the queue";
constexpr char conf_problem[] = "follow the configuration";

// The shortest time between two turns: what comes meanwhile is taken together.
constexpr std::chrono::milliseconds shortest_turn{100};

// Turns what the watch of a namespace reads into news.
class WorkerSink : public ReflectorSink {
  public:
    WorkerSink(std::string ns, Mailbox<WorkerNews> &news,
               Mailbox<Message> &owner)
        : ns_(std::move(ns)), news_(news),
          failures_("watch workers in " + ns_, owner)
    {
    }

    void list_begins() override
    {
        pods_.clear();
        others_.clear();
    }

    void list_item(const Json &object) override
    {
        if (auto worker = worker_from(object))
            pods_.push_back(std::move(*worker));
        else
            others_.insert(object.text("metadata/uid"));
    }

    void list_ends() override
    {
        news_.push(WorkersListed{ns_, std::exchange(pods_, {}),
                                 std::exchange(others_, {})});
    }

    void changed(const Json &object) override { tell(object, false); }
    void deleted(const Json &object) override { tell(object, true); }
    void failing(const Error &error) override { failures_.failing(error); }
    void working() override { failures_.working(); }

  private:
    void tell(const Json &object, bool deleted)
    {
        if (auto worker = worker_from(object))
            news_.push(WorkerChanged{std::move(*worker), deleted});
        else
            news_.push(OtherPodChanged{{object.text("metadata/namespace"),
                                        object.text("metadata/name")}});
    }

    std::string ns_;
    Mailbox<WorkerNews> &news_;
    std::vector<WorkerPod> pods_; // of the list that is being read
    std::set<std::string> others_;
    WatchFailures failures_;
};

// The same for its NodeSets. Without them, or without the right to read them,
// none follows the queue: workers are served as usual.
class NodeSetSink : public ReflectorSink {
  public:
    NodeSetSink(std::string ns, Mailbox<WorkerNews> &news,
                Mailbox<Message> &owner)
        : ns_(std::move(ns)), news_(news),
          failures_("watch NodeSets in " + ns_, owner)
    {
    }

    void list_begins() override { sets_.clear(); }

    void list_item(const Json &object) override
    {
        sets_.push_back(worker_set_from(object));
    }

    void list_ends() override
    {
        news_.push(NodeSetsListed{ns_, std::exchange(sets_, {})});
    }

    void changed(const Json &object) override
    {
        news_.push(NodeSetChanged{worker_set_from(object), false});
    }

    void deleted(const Json &object) override
    {
        news_.push(NodeSetChanged{worker_set_from(object), true});
    }

    void failing(const Error &error) override
    {
        if (error.code != Code::not_found && error.code != Code::denied)
            return failures_.failing(error);
        if (!std::exchange(said_, true))
            log_info("no NodeSet follows the queue",
                     {{"namespace", ns_}, {"err", error.message}});
    }

    void working() override { failures_.working(); }

  private:
    std::string ns_;
    Mailbox<WorkerNews> &news_;
    std::vector<WorkerSet> sets_; // of the list that is being read
    bool said_ = false;
    WatchFailures failures_;
};

std::string variable(const char *name)
{
    const char *value = std::getenv(name);
    return value ? value : "";
}

// The Pod that this process runs in, as slurmk8s-operator tells it.
WorkerPod own_pod(const Conf &conf)
{
    WorkerPod pod;
    if (conf.worker_namespaces.empty())
        return pod;
    pod.key = {conf.worker_namespaces.front(),
               variable(names::pod_name_variable)};
    pod.uid = variable(names::pod_uid_variable);
    return pod;
}

// Without workers nothing is written.
class NoWriter : public WorkerWriter {
  public:
    void begin(WorkerWrite) override {}
};

class NoScaler : public SetScaler {
  public:
    void begin(SetScale) override {}
};

std::unique_ptr<SetScaler> make_scaler(const HttpEndpoint &endpoint,
                                       const Conf &conf, const WriteGate &gate,
                                       Mailbox<WorkerNews> &news)
{
    if (conf.worker_namespaces.empty())
        return std::make_unique<NoScaler>();
    return std::make_unique<SetScalerThread>(
        endpoint, gate, [&news](const SetScale &scale, Result<> done) {
            news.push(NodeSetScaled{scale, std::move(done)});
        });
}

std::unique_ptr<WorkerWriter> make_writers(const HttpEndpoint &endpoint,
                                           const Conf &conf,
                                           const WriteGate &gate,
                                           Mailbox<WorkerNews> &news)
{
    if (conf.worker_namespaces.empty())
        return std::make_unique<NoWriter>();
    return std::make_unique<WorkerWriters>(
        endpoint, gate, [&news](const WorkerWrite &write, Result<> done) {
            news.push(
                WorkerWritten{write.pod.key, write.pod.uid, std::move(done)});
        });
}

} // namespace

WorkerThread::WorkerThread(const HttpEndpoint &endpoint, const Conf &conf,
                           Slurm &slurm, SlurmQueue &queue,
                           const WriteGate &gate, Mailbox<Message> &owner,
                           Mailbox<WorkerNews> &news, OwnConf *own_conf)
    : news_(news), writers_(make_writers(endpoint, conf, gate, news)),
      scaler_(make_scaler(endpoint, conf, gate, news)),
      keeper_(slurm, *writers_, conf.worker_controller),
      set_keeper_(slurm, queue, *scaler_, keeper_, conf.worker_controller),
      kube_(endpoint, gate),
      conf_keeper_(slurm, kube_, conf.config_hash_file, own_pod(conf)),
      own_conf_(own_conf), owner_(owner)
{
    if (conf.worker_namespaces.empty())
        return;
    for (const std::string &ns : conf.worker_namespaces) {
        sinks_.push_back(std::make_unique<WorkerSink>(ns, news_, owner));
        reflectors_.push_back(std::make_unique<Reflector>(
            endpoint, "/api/v1/namespaces/" + url_encode(ns) + "/pods", "",
            *sinks_.back()));
        sinks_.push_back(std::make_unique<NodeSetSink>(ns, news_, owner));
        reflectors_.push_back(std::make_unique<Reflector>(
            endpoint, node_sets_path(ns), "", *sinks_.back()));
    }
    auto start = [this](auto work) {
        threads_.emplace_back([work](std::stop_token stop) {
            try {
                work(stop);
            } catch (const std::exception &e) { // such as out of memory
                log_error("workers are served no more, restart the agent",
                          {{"err", e.what()}});
            }
        });
    };
    for (auto &reflector : reflectors_)
        start([&watch = *reflector](std::stop_token stop) { watch.run(stop); });
    start([this](std::stop_token stop) { run(stop); });
}

WorkerThread::~WorkerThread()
{
    for (std::jthread &thread : threads_)
        thread.request_stop();
    news_.close();
}

void WorkerThread::take(WorkerNews news)
{
    if (auto *listed = std::get_if<WorkersListed>(&news)) {
        keeper_.list(listed->ns, std::move(listed->pods), listed->others);
        return;
    }
    if (auto *other = std::get_if<OtherPodChanged>(&news)) {
        keeper_.disown(other->key);
        return;
    }
    if (auto *written = std::get_if<WorkerWritten>(&news)) {
        keeper_.written(written->key, written->uid, written->done,
                        Clock::now());
        return;
    }
    if (auto *listed = std::get_if<NodeSetsListed>(&news)) {
        set_keeper_.list(listed->ns, std::move(listed->sets));
        return;
    }
    if (auto *set = std::get_if<NodeSetChanged>(&news)) {
        if (set->deleted)
            set_keeper_.remove(set->set.key);
        else
            set_keeper_.change(std::move(set->set));
        return;
    }
    if (auto *scaled = std::get_if<NodeSetScaled>(&news)) {
        set_keeper_.scaled(scaled->scale, scaled->done, Clock::now());
        return;
    }
    if (std::holds_alternative<WorkerJob>(news))
        return; // the next turn reads its nodes
    auto &changed = std::get<WorkerChanged>(news);
    if (changed.deleted)
        keeper_.remove(changed.pod);
    else
        keeper_.change(std::move(changed.pod));
}

// What comes until the next turn may begin is taken together.
void WorkerThread::run(const std::stop_token &stop)
{
    Clock::time_point due = Clock::now();
    Clock::time_point earliest = due;
    while (!stop.stop_requested()) {
        for (auto news = news_.pop_until(due); news;
             news = news_.pop_until(earliest))
            take(std::move(*news));
        if (stop.stop_requested())
            return;
        Clock::time_point began = Clock::now();
        auto turn = keeper_.turn(began);
        report(problem, "workers cannot be served",
               turn ? keeper_.failure() : turn.error().message);
        tell_unprotected();
        if (turn || turn.error().code != Code::busy) // slurmctld answers
            follow_queue(began);
        follow_conf();
        // News do not make slurmctld be asked more often than it answers.
        earliest = turn ? began + shortest_turn : began + worker_interval;
        due = std::max(earliest, Clock::now() + worker_interval);
    }
}

void WorkerThread::follow_conf()
{
    if (own_conf_ && own_conf_->changed())
        return;
    auto done = conf_keeper_.turn(std::chrono::floor<std::chrono::seconds>(
        std::chrono::system_clock::now()));
    report(conf_problem, "the configuration cannot be followed",
           done ? std::string() : done.error().message);
}

void WorkerThread::follow_queue(Clock::time_point now)
{
    auto done = set_keeper_.turn(now, std::chrono::floor<std::chrono::seconds>(
                                          std::chrono::system_clock::now()));
    report(queue_problem, "NodeSets cannot follow the queue",
           done ? set_keeper_.failure() : done.error().message);
}

// The plugin may know what an earlier agent has said: it is told in any case,
// once the Pods are known.
void WorkerThread::tell_unprotected()
{
    if (!keeper_.is_listed())
        return;
    auto nodes = keeper_.unprotected();
    if (nodes == unprotected_)
        return;
    owner_.push(WorkersUnprotected{nodes});
    unprotected_ = std::move(nodes);
}

void WorkerThread::report(const std::string &what, const char *words,
                          std::string error)
{
    std::string &reported = reported_[what];
    if (error == reported)
        return;
    if (!error.empty())
        log_warning(words, {{"err", error}});
    owner_.push(WatchState{what, error});
    reported = std::move(error);
}

} // namespace bridge
