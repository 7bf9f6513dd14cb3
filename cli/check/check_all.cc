// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check.h"

#include "cli/check/check_host.h"
#include "cli/check/check_kube.h"
#include "cli/check/check_names.h"
#include "cli/check/check_pending_jobs.h"
#include "cli/check/check_reach.h"
#include "cli/check/check_slurm.h"

#include <algorithm>
#include <iterator>

namespace bridge {

namespace {

class Sum {
  public:
    void add(Findings more)
    {
        std::ranges::move(more, std::back_inserter(all_));
    }

    Findings take()
    {
        merge_changes(all_);
        sort_by_weight(all_);
        return std::move(all_);
    }

  private:
    Findings all_;
};

void add_slurm(const Facts &facts, Sum &sum)
{
    const SlurmFacts &slurm = *facts.slurm;
    sum.add(check_version(slurm));
    sum.add(check_plugins(slurm));
    sum.add(check_node_table(slurm, count_new_nodes(facts.kube, slurm)));
    sum.add(check_job_age(slurm));
    sum.add(check_select(slurm));
    sum.add(check_scheduler(slurm));
    sum.add(check_limits(slurm));
    sum.add(check_gres_types(slurm, facts.conf));
    sum.add(check_pod_arrays(slurm, facts.conf));
    sum.add(check_power_saving(slurm));
    sum.add(check_accounting(slurm));
    sum.add(
        check_partitions(slurm, facts.conf, partitions_of_nodes(facts.kube)));
    sum.add(check_nodes(facts.kube, slurm));
    sum.add(check_pending_jobs(slurm, facts.conf));
    sum.add(check_qos(slurm, facts.conf, facts.kube.namespaces));
    sum.add(check_associations(slurm, facts.conf, facts.kube.namespaces));
}

// What matters for Pods that Slurm schedules.
void add_kube(const Facts &facts, Sum &sum)
{
    sum.add(check_identity(facts.kube));
    sum.add(check_rights(facts.kube));
    sum.add(check_policies(facts.kube, facts.conf));
    sum.add(check_namespaces(facts.kube, facts.conf));
    sum.add(check_outside_pods(facts.kube));
}

} // namespace

Findings check_all(const Facts &facts)
{
    Sum sum;
    std::optional<SlurmUser> slurm_user;
    if (facts.slurm) {
        slurm_user =
            SlurmUser{facts.slurm->slurm_user_id, facts.slurm->slurm_user};
        if (facts.conf.schedule_pods)
            add_slurm(facts, sum);
        sum.add(check_bursts(*facts.slurm, facts.conf));
    }
    sum.add(check_files(facts.host, slurm_user));
    sum.add(check_choices(facts.conf));
    sum.add(check_agent(facts.host));
    sum.add(check_reach(facts.kube, facts.host, facts.conf));
    sum.add(check_kube_version(facts.kube));
    sum.add(check_clock(facts.kube));
    if (facts.conf.schedule_pods)
        add_kube(facts, sum);
    return sum.take();
}

} // namespace bridge
