// SPDX-License-Identifier: GPL-2.0-or-later
// How many requests the agent has sent, to the API server and to slurmctld, of
// which kind, how they ended and how long they took. May be used by every
// thread.
#pragma once

#include "common/base/result.h"
#include "common/kube/http.h"
#include "common/kube/request_kind.h"
#include "common/metrics/metric_text.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace bridge {

class CallCounts : public HttpObserver {
  public:
    void ended(std::string_view method, std::string_view path, long status,
               std::chrono::nanoseconds took) override;

    // Makes a call to slurmctld and returns its Result. name: that of the
    // function. ours: time in the call that was spent on something else.
    template <class Call>
    auto slurm(const char *name, Call call,
               const std::chrono::nanoseconds &ours = {})
    {
        auto begin = std::chrono::steady_clock::now();
        auto done = call();
        count_slurm(name, done ? "ok" : code_name(done.error().code),
                    std::chrono::steady_clock::now() - begin - ours);
        return done;
    }

    void write(MetricText &text) const;

  private:
    using Time = std::chrono::nanoseconds;

    void count_slurm(const std::string &name, const std::string &result,
                     Time took);

    mutable std::mutex mutex_; // guards the below
    std::map<std::pair<RequestKind, std::string>, std::uint64_t> requests_;
    std::map<RequestKind, Time> request_times_; // without streams
    std::map<std::pair<std::string, std::string>, std::uint64_t> slurm_;
    std::map<std::string, Time> slurm_times_;
};

} // namespace bridge
