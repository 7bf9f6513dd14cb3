// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/metrics/people.h"

#include "common/slurm/state_tests.h"

#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace bridge {

namespace {

// What sshare shows as 0 is none: usage decays for years.
constexpr double least_usage = 1;

} // namespace

void People::Sums::add(const CountedJob &job, const JobUse &its)
{
    jobs += job.tasks;
    if (is_pending(job.state))
        pending += job.tasks;
    if (is_running(job.state))
        running += job.tasks;
    cpus += job.cpus;
    nodes += job.nodes;
    use += its;
}

People::Sums &People::Sums::operator+=(const Sums &more)
{
    jobs += more.jobs;
    pending += more.pending;
    running += more.running;
    cpus += more.cpus;
    nodes += more.nodes;
    use += more.use;
    return *this;
}

void People::forget_jobs()
{
    users_.clear();
    accounts_.clear();
}

void People::add(const CountedJob &job, const JobUse &its)
{
    users_[job.user].add(job, its);
    auto known = accounts_.find(job.account);
    if (known == accounts_.end())
        known = accounts_.try_emplace(std::string(job.account)).first;
    known->second.add(job, its);
}

void People::set_associations(std::vector<CountedAssociation> associations)
{
    associations_ = std::move(associations);
}

void People::each_user(const std::function<void(std::uint32_t)> &visit) const
{
    for (const auto &[user, sums] : users_)
        visit(user);
}

void People::write_jobs(const std::string &whose, const std::string &label,
                        const ByName &all, MetricText &text)
{
    const std::string prefix = "slurm_" + whose + "_jobs";
    const std::string by = ", by " + whose + ".";
    auto gauge = [&](const char *name, const char *help, auto value) {
        text.gauge(prefix + name, help + by);
        for (const auto &[who, sums] : all)
            text.add(static_cast<std::uint64_t>(value(sums)), {{label, who}});
    };
    gauge("", "Jobs that slurmctld knows",
          [](const Sums &s) { return s.jobs; });
    gauge("_pending", "Jobs in the state pending",
          [](const Sums &s) { return s.pending; });
    gauge("_running", "Jobs in the state running",
          [](const Sums &s) { return s.running; });
    gauge("_cpus_alloc", "CPUs that jobs have",
          [](const Sums &s) { return s.cpus; });
    gauge("_nodes_alloc", "Nodes that jobs have; one counts for each job on it",
          [](const Sums &s) { return s.nodes; });
    gauge("_memory_alloc_bytes", "Memory that jobs have",
          [](const Sums &s) { return s.use.memory.value; });
    text.gauge(prefix + "_gres_alloc",
               "GRES in AccountingStorageTRES that jobs have, by type" + by);
    for (const auto &[who, sums] : all)
        for (const auto &[kind, count] : sums.use.gres)
            text.add(
                count,
                {{label, who}, {"gres", kind.first}, {"type", kind.second}});
}

void People::write_associations(const UserNames &names, MetricText &text) const
{
    std::set<std::string> busy; // users that have jobs
    for (const auto &[user, sums] : users_)
        busy.insert(name_in(names, user));
    auto gauge = [&](const char *name, const char *help,
                     std::optional<double> CountedAssociation::*value) {
        text.gauge(name, help);
        for (const CountedAssociation &one : associations_) {
            bool shown = one.user.empty() ||
                         one.usage.value_or(0) >= least_usage ||
                         busy.contains(one.user);
            if (shown && one.*value)
                text.add(*(one.*value), {{"account", one.account},
                                         {"user", one.user},
                                         {"partition", one.partition}});
        }
    };
    using One = CountedAssociation;
    gauge("slurm_association_shares",
          "Shares of an account, or of a user in it (RawShares of sshare).",
          &One::shares);
    gauge(
        "slurm_association_shares_norm",
        "Part of its parent's shares, or without Fair Tree of all (NormShares "
        "of sshare).",
        &One::shares_norm);
    gauge("slurm_association_usage_raw",
          "Billable TRES times seconds that an association has used, decayed "
          "(RawUsage of sshare).",
          &One::usage);
    gauge(
        "slurm_association_usage_effective",
        "Part of its parent's usage, or without Fair Tree of all (EffectvUsage "
        "of sshare).",
        &One::usage_effective);
    gauge("slurm_association_fairshare",
          "Fair-share factor of a user's association, from 0 to 1.",
          &One::fairshare);
}

void People::write(const UserNames &names, MetricText &text) const
{
    ByName users;
    for (const auto &[user, sums] : users_)
        users[name_in(names, user)] += sums; // two may have one name
    write_jobs("user", "username", users, text);
    write_jobs("account", "account", accounts_, text);
    write_associations(names, text);
}

} // namespace bridge
