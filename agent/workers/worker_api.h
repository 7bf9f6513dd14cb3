// SPDX-License-Identifier: GPL-2.0-or-later
// What the agent writes on a worker's Pod, in one request. One WorkerApi
// belongs to one thread; its writes pass the write gate.
#pragma once

#include "agent/calls/gated_http.h"
#include "agent/workers/worker_pod.h"
#include "common/base/result.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace bridge {

// Only what is to be changed. A text: the value of the label or annotation; "":
// it is removed; nothing: it stays.
struct WorkerPatch {
    std::map<std::string, WorkerCondition> conditions;
    std::optional<std::string> protect;
    std::optional<std::string> deadline;

    bool empty() const { return *this == WorkerPatch{}; }
    bool operator==(const WorkerPatch &) const = default;
};

// The request's body: a strategic merge patch of the Pod's status, with its
// uid. marks: whether what protects the Pod also says so to autoscalers, unless
// somebody else has said something to them.
std::string worker_patch_body(const WorkerPod &pod, const WorkerPatch &patch,
                              std::chrono::system_clock::time_point now,
                              bool marks = true);

// Where the NodeSets of a namespace are; the address and the body of the
// request that sets the replicas of one.
std::string node_sets_path(const std::string &ns);
std::string scale_path(const ObjectKey &node_set);
std::string scale_body(std::uint32_t replicas);

class WorkerKube {
  public:
    virtual ~WorkerKube() = default;

    // Code::not_found if the Pod is gone, or if another Pod has its name now;
    // otherwise the Codes of agent/calls/kube_api.h.
    virtual Result<> patch(const WorkerPod &pod, const WorkerPatch &patch) = 0;
};

class WorkerApi : public WorkerKube {
  public:
    // The gate must outlive this.
    WorkerApi(HttpEndpoint endpoint, const WriteGate &gate)
        : http_(std::move(endpoint), gate)
    {
    }

    Result<> patch(const WorkerPod &pod, const WorkerPatch &patch) override;

    // Sets the replicas of a NodeSet. Codes as above.
    Result<> scale(const ObjectKey &node_set, std::uint32_t replicas);

  private:
    Result<> try_patch(const WorkerPod &pod, const WorkerPatch &patch,
                       bool marks);

    GatedHttp http_;
};

} // namespace bridge
