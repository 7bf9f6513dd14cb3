// SPDX-License-Identifier: GPL-2.0-or-later
// Makes slurmctld read its configuration anew when the volume with it has been
// replaced, and tells of that by a condition of its Pod. What slurmctld has
// read follows from when it was started, so that no restart, of slurmctld or of
// the agent, misses a change. Used by one thread; its calls block.
#pragma once

#include "agent/workers/worker_api.h"
#include "agent/workers/worker_pod.h"
#include "common/slurm/api.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace bridge {

// The configuration as the kubelet has put it there.
struct ConfMark {
    std::string hash; // what the file contains, as one word
    std::chrono::sys_seconds replaced{};
};

// Code::not_found if there is no such file. In a volume of the kubelet all
// files are replaced together; elsewhere the file's own time counts.
Result<ConfMark> read_conf_mark(const std::string &path);

enum class ConfStep {
    none, // slurmctld has read it
    wait,
    reconfigure,
};

// started: slurmctld's, in seconds since 1970. Both times are of one clock, in
// whole seconds: with equal ones nobody knows what slurmctld has read.
ConfStep plan_conf(std::chrono::sys_seconds replaced, std::uint64_t started,
                   std::chrono::sys_seconds now);

class ConfKeeper {
  public:
    // file: ConfigHashFile of k8s.conf(5); "": it does nothing. pod: that of
    // slurmctld; without uid nobody is told.
    ConfKeeper(Slurm &slurm, WorkerKube &kube, std::string file, WorkerPod pod)
        : slurm_(slurm), kube_(kube), file_(std::move(file)),
          pod_(std::move(pod))
    {
    }

    // Does what is due. Returns an error if slurmctld or the API server does
    // not answer; the next turn tries it again.
    Result<> turn(std::chrono::sys_seconds now);

  private:
    Result<> reconfigure(const ConfMark &mark, std::chrono::sys_seconds now);
    Result<> tell(const WorkerCondition &said);

    Slurm &slurm_;
    WorkerKube &kube_;
    const std::string file_;
    WorkerPod pod_;
    std::string read_; // the hash of what slurmctld is known to have read
    std::optional<std::chrono::sys_seconds> asked_; // to reconfigure
};

} // namespace bridge
