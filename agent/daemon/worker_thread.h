// SPDX-License-Identifier: GPL-2.0-or-later
// The thread that serves the workers of WorkerNamespace, two threads with
// watches for each of these namespaces, and those that write. It also has
// NodeSets follow Slurm's queue, and slurmctld its configuration. It begins
// when it is made, which is when the Lease is ours, and ends with the object,
// once the call that is under way has returned.
#pragma once

#include "agent/daemon/own_conf.h"
#include "agent/daemon/set_scaler_thread.h"
#include "agent/daemon/worker_writers.h"
#include "agent/owner/message.h"
#include "agent/workers/conf_keeper.h"
#include "agent/workers/keeper.h"
#include "agent/workers/set_keeper.h"
#include "agent/workers/worker_api.h"
#include "common/base/mailbox.h"
#include "common/contract/conf.h"
#include "common/kube/http.h"
#include "common/kube/reflector.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace bridge {

// What the thread hears.
struct WorkersListed {
    std::string ns;
    std::vector<WorkerPod> pods;
    std::set<std::string> others; // uids of Pods that are no workers
};
struct WorkerChanged {
    WorkerPod pod;
    bool deleted = false;
};
struct OtherPodChanged { // a Pod that is no worker
    ObjectKey key;
};
struct WorkerWritten { // a write on its Pod is over
    ObjectKey key;
    std::string uid;
    Result<> done;
};
struct NodeSetsListed {
    std::string ns;
    std::vector<WorkerSet> sets;
};
struct NodeSetChanged {
    WorkerSet set;
    bool deleted = false;
};
struct NodeSetScaled { // a write of its replicas is over
    SetScale scale;
    Result<> done;
};
// A job waits in slurmctld until the Pods of its nodes are protected.
struct WorkerJob {};
using WorkerNews =
    std::variant<WorkersListed, WorkerChanged, OtherPodChanged, WorkerWritten,
                 NodeSetsListed, NodeSetChanged, NodeSetScaled, WorkerJob>;

class WorkerThread {
  public:
    // All arguments must outlive this. Failures are reported to the owner
    // thread's mailbox, which shows them to administrators. Once own_conf, if
    // there is one, has changed, the configuration is left to the next agent.
    WorkerThread(const HttpEndpoint &endpoint, const Conf &conf, Slurm &slurm,
                 SlurmQueue &queue, const WriteGate &gate,
                 Mailbox<Message> &owner, Mailbox<WorkerNews> &news,
                 OwnConf *own_conf);
    ~WorkerThread();

  private:
    void run(const std::stop_token &stop);
    void take(WorkerNews news);
    void follow_conf();
    // Tells the owner of a problem, and of its end, once. words: for the log.
    void report(const std::string &what, const char *words, std::string error);
    void follow_queue(Clock::time_point now);
    void tell_unprotected();

    Mailbox<WorkerNews> &news_;
    // With WorkerNamespace only: it has threads.
    std::unique_ptr<WorkerWriter> writers_;
    std::unique_ptr<SetScaler> scaler_;
    WorkerKeeper keeper_;
    SetKeeper set_keeper_;
    WorkerApi kube_;
    ConfKeeper conf_keeper_;
    OwnConf *const own_conf_; // nullptr: nobody follows it
    Mailbox<Message> &owner_;
    // What the owner thread knows.
    std::map<std::string, std::string> reported_; // errors, by problem
    // Nodes; nothing: it was not told yet.
    std::optional<std::set<std::string>> unprotected_;
    std::vector<std::unique_ptr<ReflectorSink>> sinks_;
    std::vector<std::unique_ptr<Reflector>> reflectors_;
    std::vector<std::jthread> threads_; // last: they use the above
};

} // namespace bridge
