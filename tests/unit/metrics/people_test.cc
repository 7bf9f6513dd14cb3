// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/metrics/people.h"
#include "tests/unit/metrics/counted.h"

#include <doctest/doctest.h>
#include <string>
#include <utility>

using namespace bridge;

namespace {

std::string text_of(const People &people, const UserNames &names)
{
    MetricText text(MetricFormat::open_metrics);
    people.write(names, text);
    return std::move(text).finish();
}

void add(People &people, CountedJob job, std::uint32_t user,
         std::string_view account)
{
    job.user = user;
    job.account = account;
    people.add(job, use_of(job));
}

CountedAssociation association(const char *account, const char *user,
                               double usage)
{
    CountedAssociation one;
    one.account = account;
    one.user = user;
    one.shares = 10;
    one.usage = usage;
    return one;
}

} // namespace

TEST_CASE("jobs count for their user and for their account")
{
    People people;
    add(people, running_job(1, 1000), 1001, "physics");
    add(people, running_job(2, 1000), 1002, "physics");
    CountedJob array = pending_job(3);
    array.tasks = 5;
    add(people, array, 1001, "chemistry");
    const std::string text = text_of(people, {{1001, "alice"}});
    for (const char *line :
         {"slurm_user_jobs{username=\"alice\"} 6",
          "slurm_user_jobs_pending{username=\"alice\"} 5",
          "slurm_user_jobs_running{username=\"alice\"} 1",
          "slurm_user_jobs{username=\"1002\"} 1", // nobody knows the name
          "slurm_user_jobs_cpus_alloc{username=\"alice\"} 4",
          "slurm_user_jobs_nodes_alloc{username=\"alice\"} 1",
          "slurm_user_jobs_memory_alloc_bytes{username=\"alice\"} 2147483648",
          "slurm_user_jobs_gres_alloc{username=\"alice\",gres=\"gpu\","
          "type=\"a100\"} 2",
          "slurm_account_jobs_running{account=\"physics\"} 2",
          "slurm_account_jobs_gres_alloc{account=\"physics\",gres=\"gpu\","
          "type=\"a100\"} 4",
          "slurm_account_jobs_pending{account=\"chemistry\"} 5"}) {
        CAPTURE(line);
        CHECK(text.contains("\n" + std::string(line) + "\n"));
    }

    people.forget_jobs();
    CHECK_FALSE(text_of(people, {}).contains("username=\""));
}

TEST_CASE("shares of users are shown who have used something or have jobs, and "
          "those of all accounts")
{
    People people;
    people.set_associations(
        {association("root", "", 0), association("physics", "", 0),
         association("physics", "alice", 0), association("physics", "bob", 7.5),
         association("physics", "carol", 0.5)});
    add(people, pending_job(1), 1001, "physics");
    const std::string text = text_of(people, {{1001, "alice"}});
    auto shown = [&](const std::string &account, const std::string &user) {
        return text.contains("\nslurm_association_shares{account=\"" + account +
                             "\",user=\"" + user + "\",partition=\"\"} 10\n");
    };
    CHECK(shown("root", ""));
    CHECK(shown("physics", ""));
    CHECK(shown("physics", "alice"));
    CHECK(shown("physics", "bob"));
    CHECK_FALSE(shown("physics", "carol"));
    CHECK(text.contains("\nslurm_association_usage_raw{account=\"physics\","
                        "user=\"bob\",partition=\"\"} 7.5\n"));
    // What slurmctld has not calculated is no 0.
    CHECK_FALSE(text.contains("slurm_association_fairshare{"));
}
