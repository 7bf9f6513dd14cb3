// SPDX-License-Identifier: GPL-2.0-or-later
// What jobs of each user and of each account there are, and what share of the
// cluster these have: MetricsUsers in k8s.conf. A value.
#pragma once

#include "agent/metrics/sums.h"
#include "agent/metrics/user_names.h"
#include "common/metrics/metric_text.h"
#include "common/slurm/census.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bridge {

class People {
  public:
    void forget_jobs();
    // its: use_of() that job.
    void add(const CountedJob &job, const JobUse &its);
    // Those of users without jobs and without usage are left out: a cluster may
    // have many.
    void set_associations(std::vector<CountedAssociation> associations);

    // Calls visit for each user that has jobs.
    void each_user(const std::function<void(std::uint32_t)> &visit) const;

    void write(const UserNames &names, MetricText &text) const;

  private:
    struct Sums : JobTotals {
        std::uint64_t pending = 0;
        std::uint64_t running = 0;

        void add(const CountedJob &job, const JobUse &its);
        Sums &operator+=(const Sums &more);
    };
    using ByName = std::map<std::string, Sums, std::less<>>;

    // label: its name is that of slurmctld's own metrics.
    static void write_jobs(const std::string &whose, const std::string &label,
                           const ByName &all, MetricText &text);
    void write_associations(const UserNames &names, MetricText &text) const;

    std::map<std::uint32_t, Sums> users_;
    ByName accounts_;
    std::vector<CountedAssociation> associations_;
};

} // namespace bridge
