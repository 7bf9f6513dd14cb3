// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/metrics/people.h"

#include "agent/metrics/families.h"
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
    JobTotals::add(job, its);
    if (is_pending(job.state))
        pending += job.tasks;
    if (is_running(job.state))
        running += job.tasks;
}

People::Sums &People::Sums::operator+=(const Sums &more)
{
    JobTotals::operator+=(more);
    pending += more.pending;
    running += more.running;
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
    Families<Sums> to(text, "slurm_" + whose + "_", ", by " + whose + ".",
                      label, all);
    to.totals();
    to.gauge("jobs_pending", "Jobs in the state pending",
             [](const Sums &s) { return s.pending; });
    to.gauge("jobs_running", "Jobs in the state running",
             [](const Sums &s) { return s.running; });
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
