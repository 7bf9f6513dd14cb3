// SPDX-License-Identifier: GPL-2.0-or-later
// What is being written on the workers' Pods: one request for each Pod at a
// time, all Pods at once. After a failure the same is written again after a
// pause, which is longer each time; other Pods do not wait for that. Used by
// one thread.
#pragma once

#include "agent/workers/decide.h"
#include "agent/workers/worker_api.h"
#include "common/base/backoff.h"
#include "common/base/mailbox.h"

#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <string>

namespace bridge {

struct WorkerWrite {
    WorkerPod pod; // as it was known
    WorkerPatch patch;
    bool again = false; // the last write of this Pod has failed
};

// Makes the writes. Tests replace it by a fake.
class WorkerWriter {
  public:
    virtual ~WorkerWriter() = default;

    // Does not wait. WorkerWrites::written() hears what has become of it.
    virtual void begin(WorkerWrite write) = 0;
};

class WorkerWrites {
  public:
    // The writer must outlive this.
    explicit WorkerWrites(WorkerWriter &writer) : writer_(writer) {}

    // Whether the Pod carries what it should. Otherwise what is missing is
    // written, unless a write of this Pod is under way or has just failed: then
    // call it again when that is over.
    bool carries(const WorkerPod &pod, const WorkerPlan &plan,
                 Clock::time_point now);

    // The watch has told of the Pod with this uid, or of its end.
    void told(const std::string &uid);
    void forget(const std::string &uid) { all_.erase(uid); }

    // A write is over. Returns what the Pod carries by it, unless the watch has
    // told of the Pod since the write began: then that is newer.
    std::optional<WorkerPatch> written(const std::string &uid,
                                       const Result<> &done,
                                       Clock::time_point now);

    // Whether a request for this Pod was made and is not answered.
    bool is_under_way(const std::string &uid) const;
    // Why a write has failed and was not made since: the first, or "".
    std::string failure() const;

  private:
    struct One {
        WorkerPatch patch;      // the last one
        bool under_way = false; // it is being made
        bool told = false;      // the watch has told of the Pod since it began
        bool uncertain = false; // it may have been made
        std::string error;      // of the last one; "": it was made
        Clock::time_point rests_until{};
        Backoff backoff{std::chrono::seconds(1), std::chrono::seconds(15)};
    };

    WorkerWriter &writer_;
    std::map<std::string, One> all_; // by the Pod's uid
    std::minstd_rand random_{std::random_device{}()};
};

// Changes what is known of the Pod.
void apply(WorkerPod &pod, const WorkerPatch &patch);

} // namespace bridge
