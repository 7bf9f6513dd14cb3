// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps the Pods by which batch jobs that wait ask autoscalers for Nodes
// (agent/batch/demand_pods.h) in step with Slurm's queue: each list of jobs
// says who waits, and a job that has got its nodes is dropped at once, else an
// autoscaler would make Nodes for both its Pods and these. After an error the
// next list tries again. Owner thread only.
#pragma once

#include "agent/batch/demand.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"
#include "agent/owner/job_lists.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bridge {

class NodeDemands {
  public:
    NodeDemands(Context &context, const Errands &errands, JobLists &lists)
        : context_(context), errands_(errands), lists_(lists)
    {
    }

    // A list of all jobs. While k8s.conf has a NodePool and SbatchNamespace it
    // asks for the next one.
    void take(const std::vector<Job> &jobs);
    // This job of sbatch has got its nodes. It may be a task of a job array,
    // whose demand has another JobId: while one waits, the jobs are listed.
    void allocated(JobRef job);
    // It has ended, perhaps without ever having had nodes.
    void ended(JobRef job) { (void)drop(job); }

  private:
    // What the Pods are to be, and by which configuration.
    struct Wish {
        std::vector<NodeDemand> demands;
        std::shared_ptr<const Conf> conf;

        bool operator==(const Wish &) const = default;
    };

    bool drop(JobRef job);
    void carry();
    void carried(const Wish &wish, const Result<std::size_t> &left);

    Context &context_;
    const Errands &errands_;
    JobLists &lists_;
    bool listed_ = false; // wanted_ is known
    Wish wanted_;
    Wish carried_; // without a configuration: not known
    // The namespace in which there may be Pods; empty: none.
    std::string namespace_;
    // Jobs that a list under way may still show as waiting.
    std::map<JobId, Clock::time_point> dropped_;
    bool in_flight_ = false;
};

} // namespace bridge
