// SPDX-License-Identifier: GPL-2.0-or-later
// The thread that counts Slurm's nodes and jobs for the metrics, each
// MetricsInterval, so that nobody who reads them costs slurmctld anything. It
// begins with the object, and ends with it, once the call that is under way has
// returned. The counts of jobs are kept in a file, for the next agent.
#pragma once

#include "agent/metrics/census_pace.h"
#include "agent/metrics/slurm_metrics.h"
#include "common/base/reported.h"
#include "common/base/result.h"
#include "common/slurm/census.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

namespace bridge {

class CensusThread {
  public:
    // users: whether to count by users and accounts, too. file: of the counts.
    // If its directory does not exist they begin anew each time. slurm and
    // metrics must outlive this. Failures are logged.
    CensusThread(SlurmCensus &slurm, SlurmMetrics &metrics,
                 std::chrono::seconds wanted, bool users, std::string file);

  private:
    void run(const std::stop_token &stop);
    void count();
    Result<std::shared_ptr<const SlurmSnapshot>> take();
    Result<> count_nodes();
    Result<> count_jobs();
    void count_job(const CountedJob &job);
    void count_associations();
    void name_users();
    std::chrono::seconds interval();
    void load();
    void save();

    SlurmCensus &slurm_;
    SlurmMetrics &metrics_;
    const std::chrono::seconds wanted_; // MetricsInterval
    const bool users_;
    const std::string file_;
    // As slurmctld has said it before.
    std::int64_t nodes_as_of_ = 0;
    SlurmSnapshot last_;
    std::set<std::uint32_t> draining_users_; // who have given reasons
    std::map<std::uint32_t, std::chrono::steady_clock::time_point> named_;
    std::chrono::steady_clock::time_point associations_due_{};
    bool keeps_ = false; // writes the file
    std::string saved_;  // the contents of the file, once this has written them
    // What the log has said: errors, and that the interval is too long.
    Reported reported_;
    Reported associations_reported_;
    Reported save_reported_;
    bool warned_ = false;
    std::jthread thread_; // last: it uses the above
};

} // namespace bridge
