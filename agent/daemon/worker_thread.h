// SPDX-License-Identifier: GPL-2.0-or-later
// The thread that serves the workers of WorkerNamespace, and a thread with a
// watch for each of these namespaces. It begins when it is made, which is when
// the Lease is ours, and ends with the object, once the call that is under way
// has returned.
#pragma once

#include "agent/owner/message.h"
#include "agent/workers/keeper.h"
#include "common/base/mailbox.h"
#include "common/contract/conf.h"
#include "common/kube/http.h"
#include "common/kube/reflector.h"

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace bridge {

// What the watches tell the thread.
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
using WorkerNews = std::variant<WorkersListed, WorkerChanged, OtherPodChanged>;

class WorkerThread {
  public:
    // All arguments must outlive this. Failures are reported to the owner
    // thread's mailbox, which shows them to administrators.
    WorkerThread(const HttpEndpoint &endpoint, const Conf &conf, Slurm &slurm,
                 const WriteGate &gate, Mailbox<Message> &owner);
    ~WorkerThread();

  private:
    void run(const std::stop_token &stop);
    void take(WorkerNews news);
    void report(const Result<> &turn);

    WorkerApi kube_;
    WorkerKeeper keeper_;
    Mailbox<WorkerNews> news_;
    Mailbox<Message> &owner_;
    std::string reported_; // the problem that the owner thread knows
    std::vector<std::unique_ptr<ReflectorSink>> sinks_;
    std::vector<std::unique_ptr<Reflector>> reflectors_;
    std::vector<std::jthread> threads_; // last: they use the above
};

} // namespace bridge
