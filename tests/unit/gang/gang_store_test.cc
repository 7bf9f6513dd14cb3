// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/store.h"
#include "tests/unit/fakes/make.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;

namespace {

constexpr Clock::time_point t0{std::chrono::hours(1)};

std::vector<std::string> names_of(const std::vector<Pod> &pods)
{
    std::vector<std::string> found;
    for (const Pod &pod : pods)
        found.push_back(pod.key.name);
    std::ranges::sort(found);
    return found;
}

} // namespace

TEST_CASE("a Pod alone is a gang under its own uid")
{
    GangStore store;

    std::string uid = store.put(make_pod("web"));

    CHECK(uid == "uid-web");
    GangEntry *entry = store.find(uid);
    REQUIRE(entry);
    CHECK(entry->gang.key == ObjectKey{"default", "web"});
    CHECK(entry->gang.pods.size() == 1);
    CHECK_FALSE(store.find("uid-other"));
}

TEST_CASE("a Pod that is put again replaces what was known of it")
{
    GangStore store;
    store.put(make_pod("web"));
    Pod later = make_pod("web");
    later.phase = "Running";

    store.put(later);

    CHECK(store.all().size() == 1);
    const Gang &gang = store.find("uid-web")->gang;
    REQUIRE(gang.pods.size() == 1);
    CHECK(gang.pods[0]->phase == "Running");
}

TEST_CASE("a Pod made again under its name is another gang")
{
    GangStore store;
    store.put(make_pod("web"));
    Pod again = make_pod("web");
    again.uid = "uid-again";

    store.put(again);

    CHECK(store.all().size() == 2);
}

TEST_CASE("a Pod that is removed leaves its gang without it")
{
    GangStore store;
    store.put(make_pod("web"));

    CHECK(store.remove(make_pod("web")) == "uid-web");
    CHECK(store.find("uid-web")->gang.pods.empty());
    CHECK_FALSE(store.remove(make_pod("other")));
}

TEST_CASE("an assumed binding lasts until the watch shows it or the Pod goes")
{
    GangStore store;
    store.put(make_pod("web"));
    Gang &gang = store.find("uid-web")->gang;
    gang.assumed_bound["uid-web"] = {};

    store.put(make_pod("web")); // an older state, still under way
    CHECK_FALSE(gang.assumed_bound.empty());

    store.put(with_binding(make_pod("web"), make_job(7, JobState::running),
                           "node-1"));
    CHECK(gang.assumed_bound.empty());

    gang.assumed_bound["uid-web"] = {};
    store.remove(make_pod("web"));
    CHECK(gang.assumed_bound.empty());
}

TEST_CASE("missing are the Pods of that scheduler which a list did not have")
{
    GangStore store;
    store.put(make_pod("a"));
    store.put(make_pod("b"));
    Pod other = make_pod("c");
    other.scheduler_name = "slurm-bridge-scheduler";
    store.put(other);

    CHECK(names_of(store.missing("slurm", {"uid-a"})) ==
          std::vector<std::string>{"b"});
    CHECK(names_of(store.missing("slurm", {})) ==
          std::vector<std::string>{"a", "b"});
    CHECK(names_of(store.missing("slurm-bridge-scheduler", {"uid-c"})).empty());
}

TEST_CASE("a gang is found by its job, id and SLUID")
{
    GangStore store;
    store.put(make_pod("web"));
    GangEntry &entry = *store.find("uid-web");
    Job job = make_job(7, JobState::pending);

    store.set_job(entry, job, t0);

    CHECK(store.find(job.ref) == &entry);
    CHECK_FALSE(store.find(JobRef{7, Sluid{1}}));
    CHECK_FALSE(store.find(JobRef{8, job.ref.sluid}));

    store.set_job(entry, std::nullopt, t0);
    CHECK_FALSE(store.find(job.ref));
}

TEST_CASE("what is held of one job is not held of the next")
{
    GangStore store;
    store.put(make_pod("web"));
    GangEntry &entry = *store.find("uid-web");
    store.set_job(entry, make_job(7, JobState::pending), t0);
    entry.gang.prolog_held = entry.gang.epilog_held = entry.gang.stale = true;

    store.set_job(entry, make_job(7, JobState::running), t0);
    CHECK(entry.gang.prolog_held);
    CHECK(entry.gang.epilog_held);
    CHECK(entry.gang.stale);

    store.set_job(entry, make_job(8, JobState::pending), t0);
    CHECK_FALSE(entry.gang.prolog_held);
    CHECK_FALSE(entry.gang.epilog_held);
    CHECK_FALSE(entry.gang.stale);
}

TEST_CASE("a job is known since it was set first")
{
    GangStore store;
    store.put(make_pod("web"));
    GangEntry &entry = *store.find("uid-web");
    const Clock::time_point later = t0 + std::chrono::seconds(5);

    store.set_job(entry, make_job(7, JobState::pending), t0);
    store.set_job(entry, make_job(7, JobState::running), later);
    CHECK(entry.job_since == t0);

    store.set_job(entry, make_job(8, JobState::pending), later);
    CHECK(entry.job_since == later);
}

TEST_CASE("a JobId that slurmctld gives a second time belongs to its new job")
{
    GangStore store;
    store.put(make_pod("old"));
    store.put(make_pod("new"));
    GangEntry &old_entry = *store.find("uid-old");
    GangEntry &new_entry = *store.find("uid-new");
    Job old_job = make_job(7, JobState::running);
    Job new_job = make_job(7, JobState::pending);
    new_job.ref.sluid = Sluid{9999};

    store.set_job(old_entry, old_job, t0);
    store.set_job(new_entry, new_job, t0);
    CHECK(store.find(new_job.ref) == &new_entry);
    CHECK_FALSE(store.find(old_job.ref));

    store.set_job(old_entry, std::nullopt, t0);
    CHECK(store.find(new_job.ref) == &new_entry);
    store.erase("uid-old");
    CHECK(store.find(new_job.ref) == &new_entry);
}

TEST_CASE("a gang that is erased is found no more, by uid or by job")
{
    GangStore store;
    store.put(make_pod("web"));
    Job job = make_job(7, JobState::pending);
    store.set_job(*store.find("uid-web"), job, t0);

    store.erase("uid-web");
    store.erase("uid-web"); // a second time does nothing

    CHECK_FALSE(store.find("uid-web"));
    CHECK_FALSE(store.find(job.ref));
}

TEST_CASE("a gang that is only known by its job is an orphan until a Pod comes")
{
    GangStore store;

    GangEntry &entry = store.create_for_job({"default/web", "uid-web", 2}, t0);
    CHECK(entry.gang.key == ObjectKey{"default", "web"});
    CHECK(entry.gang.uid == "uid-web");
    CHECK(entry.orphan_since == t0);

    store.put(make_pod("web"));
    CHECK_FALSE(entry.orphan_since);

    CHECK(store.create_for_job({"no slash", "uid-x", 0}, t0).gang.key ==
          ObjectKey{});
}

TEST_CASE("a job's containers may live while a Pod that it bound is not over")
{
    GangStore store;
    Job job = make_job(7, JobState::running);
    Pod pod = with_binding(make_pod("web"), job, "node-1");
    CHECK_FALSE(store.living_of(job.ref));

    store.put(pod);
    CHECK(store.living_of(job.ref));
    CHECK_FALSE(store.living_of({1, Sluid{1}}));

    store.put(with_deletion(pod));
    CHECK(store.living_of(job.ref));

    store.put(with_end(pod, "Failed"));
    CHECK_FALSE(store.living_of(job.ref));
}

TEST_CASE("a binding that is only assumed counts as living")
{
    GangStore store;
    Job job = make_job(7, JobState::running);
    store.put(make_pod("web"));
    GangEntry &entry = *store.find("uid-web");
    store.set_job(entry, job, t0);
    CHECK_FALSE(store.living_of(job.ref));

    entry.gang.assumed_bound["uid-web"] = {};
    CHECK(store.living_of(job.ref));
}

TEST_CASE("a Pod is found in its gang, and in another once it has left that")
{
    GangStore store;
    std::string gang = store.put(make_member("a", "2", MilliCpu{1000}, {}));
    store.put(make_member("b", "2", MilliCpu{1000}, {}));
    REQUIRE(gang != "uid-a");

    REQUIRE(store.find_in(gang, "uid-a"));
    CHECK(store.find_in(gang, "uid-a")->key.name == "a");
    CHECK_FALSE(store.find_in("uid-a", "uid-a"));
    CHECK_FALSE(store.find_in(gang, "uid-c"));

    store.split("uid-a");
    CHECK_FALSE(store.find_in(gang, "uid-a"));
    CHECK(store.find_in("uid-a", "uid-a"));

    store.remove(make_pod("a"));
    CHECK_FALSE(store.find_in("uid-a", "uid-a"));
    store.erase(gang);
    CHECK_FALSE(store.find_in(gang, "uid-b"));
}

TEST_CASE("a Node has the Pods that are bound to it, until they are over")
{
    GangStore store;
    const Job job = make_job(7, JobState::running);
    auto put = [&](const char *name, const char *phase) {
        Pod pod = with_binding(make_member(name, "2", MilliCpu{1000}, {}), job,
                               "node-1");
        pod.phase = phase;
        return store.put(pod);
    };
    auto there = [&] {
        std::vector<Pod> pods;
        for (const auto &[uid, of_gang] : store.living_on("node-1"))
            for (const PodPtr &pod : of_gang)
                pods.push_back(*pod);
        return names_of(pods);
    };
    std::string gang = store.put(make_member("a", "2", MilliCpu{1000}, {}));
    CHECK(store.living().empty());

    put("a", "Pending");
    put("b", "Running");
    put("a", "Running");
    CHECK(there() == std::vector<std::string>{"a", "b"});
    CHECK(store.living_on("node-1").contains(gang));
    CHECK(store.living_on("node-2").empty());

    put("a", "Succeeded");
    CHECK(there() == std::vector<std::string>{"b"});
    CHECK(store.living_on("node-1").size() == 1);
    SUBCASE("each by itself")
    {
        put("b", "Failed");
    }
    SUBCASE("or their gang is erased, with several there")
    {
        put("c", "Running");
        store.erase(gang);
    }
    CHECK(store.living().empty());
}

TEST_CASE("the users of a claim are the gangs with Pods that are not over")
{
    GangStore store;
    using Uids = std::vector<std::string>;
    const ObjectKey claim{"default", "c"};
    auto named = [](const std::string &name) {
        Pod pod = make_pod(name);
        pod.resource_claims = {{"gpu", "c", "", false, false}};
        return pod;
    };
    store.put(named("a"));
    store.put(named("a"));
    store.put(named("b"));
    Pod of_template = named("c");
    of_template.resource_claims.front().from_template = "t";
    store.put(of_template);
    CHECK(store.users_of(claim) == Uids{"uid-a", "uid-b"});
    CHECK(store.users_of({"other", "c"}).empty());

    Pod over = named("a");
    over.phase = "Succeeded";
    store.put(over);
    CHECK(store.users_of(claim) == Uids{"uid-b"});
    store.remove(over);
    store.remove(named("b"));
    CHECK(store.users_of(claim).empty());
}

TEST_CASE("who counts a claim is known by the tag of the current job")
{
    GangStore store;
    using Uids = std::vector<std::string>;
    const ObjectKey claim{"default", "c"};
    Job job = make_job(7, JobState::running);
    job.tag.claims = {"c", "d"};
    store.put(make_pod("a"));
    store.set_job(*store.find("uid-a"), job, t0);
    CHECK(store.counters_of(claim) == Uids{"uid-a"});
    CHECK(store.counters_of({"default", "d"}) == Uids{"uid-a"});
    CHECK(store.counters_of({"other", "c"}).empty());
    store.set_job(*store.find("uid-a"), make_job(8, JobState::pending), t0);
    CHECK(store.counters_of(claim).empty());

    // Its Pods are gone: the job is all that is known of it.
    GangEntry &alone = store.create_for_job({"default/b", "uid-b", 0}, t0);
    store.set_job(alone, job, t0);
    CHECK(store.counters_of(claim) == Uids{"uid-b"});
    store.erase("uid-b");
    CHECK(store.counters_of(claim).empty());
}
