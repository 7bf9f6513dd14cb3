// SPDX-License-Identifier: GPL-2.0-or-later
// APIs of PodGroups and JobSets that the cluster does not have, or that come
// and go.
#include "tests/unit/flows/group_world.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

// A cluster without these APIs, in which the agent looks when Pods want one.
class Looks : public GroupWorld {
  public:
    explicit Looks(GroupApi its_api = GroupApi::plugins) : GroupWorld(its_api)
    {
        can_look = true;
        apis_there.clear();
        start_agent();
    }
    std::size_t job_count() const { return slurm.jobs().size(); }
    bool is_alone(int i) const
    {
        return !node_of(name(i)).empty() &&
               pod(name(i))->annotation(names::rank_annotation) == "";
    }
};

} // namespace

TEST_CASE("an API that came since the last look counts for Pods made after it")
{
    for (GroupApi api : group_apis) {
        CAPTURE(unsigned(api));
        Looks world(api);
        world.apis_there.insert(api);
        world.put_group(world.group(2));
        world.create_pods(0, 2);
        world.pass(seconds(5));
        CHECK(world.job_count() == 0);

        CHECK(world.answer_look(api) == 1); // for both
        CHECK(world.bound(2) == 2);
        CHECK(world.only_job().asked.tasks == 2);
    }
}

TEST_CASE("an API that is absent makes them alone, and they ask once")
{
    Looks world;
    world.create_pods(0, 3);
    CHECK(world.job_count() == 0);
    CHECK(world.answer_look(GroupApi::plugins) == 1);
    CHECK(world.bound(3) == 3);
    CHECK(world.job_count() == 3);
    world.run_containers("t-0");
    world.pass(seconds(120));
    CHECK(world.answer_look(GroupApi::plugins) == 1);

    Pod plain = make_pod("t-3");
    world.create(plain);
    CHECK(world.bound(4) == 4);
    CHECK(world.answer_look(GroupApi::plugins) == 1);
}

TEST_CASE("a Pod that comes during a look waits for the next one")
{
    Looks world;
    world.create_pods(0, 1);
    auto look = world.group_looks.begin(GroupApi::plugins, {}, {});
    world.create_pods(1, 3);
    world.answer_look(GroupApi::plugins, look); // absent when it began
    CHECK(world.is_alone(0));
    CHECK(world.bound(3) == 1);

    world.apis_there = {GroupApi::plugins};
    world.put_group(world.group(2));
    CHECK(world.answer_look(GroupApi::plugins) == look + 1);
    CHECK(world.bound(3) == 3);
    CHECK(world.job_of_group().job.tasks == 2);
}

TEST_CASE("what happens to a Pod meanwhile counts")
{
    Looks world;
    world.create_pods(0, 4);
    world.delete_as_user("t-0");
    world.kube.change({"default", "t-1"}, [](Pod &pod) {
        pod.annotations["slurmk8s/job-name"] = "later";
    });
    world.watch_pods = false;
    world.kube.erase({"default", "t-2"});
    world.send_lists(); // also says again that the API is absent
    CHECK(world.job_count() == 0);
    world.watch_pods = true;

    world.answer_look(GroupApi::plugins);
    world.pass(seconds(5));
    CHECK(world.job_count() == 2);
    CHECK(std::ranges::count_if(world.slurm.jobs(), [](const auto &job) {
              return job.second.asked.name == "later";
          }) == 1);
    CHECK(world.is_alone(1));
    CHECK(world.is_alone(3));
}

TEST_CASE("without the right to read an API nobody looks for it")
{
    Access access;
    AccessReview review;
    review.missing.push_back(
        {Feature::pod_groups, "watch", "scheduling.x-k8s.io", "podgroups"});
    access.set(review);
    Looks world;
    world.access = &access;
    world.start_agent();
    world.create_pods(0, 1);
    CHECK(world.is_alone(0));
    CHECK(world.answer_look(GroupApi::plugins) == 0);

    // The right is given, and taken away before there is an answer.
    access.set({});
    world.create_pods(1, 2);
    CHECK(world.bound(2) == 1);
    access.set(review);
    world.deliver(AccessNews{});
    CHECK(world.is_alone(1));
}

TEST_CASE("a Pod asks for each API that it names before the one that is there")
{
    Looks world(GroupApi::jobset);
    world.apis_there = {GroupApi::jobset};
    world.put_group(world.group(1));
    world.start_agent();
    Pod pod = make_pod("t-0");
    pod.gang = gang_key(pod.key, {},
                        {{names::jobset_uid_label, "u-1"},
                         {names::jobset_name_label, "g"},
                         {plugins_group_label, "other"}},
                        {}, "third");
    world.create(pod);
    CHECK(world.job_count() == 0);
    CHECK(world.answer_look(GroupApi::workload) == 0);
    CHECK(world.answer_look(GroupApi::plugins) == 1);
    CHECK(world.bound(1) == 1);
    CHECK(world.only_job().job.tag.group == "u-1");
}

TEST_CASE("after a restart a job that ended meanwhile is known before its Pod "
          "is taken")
{
    Looks world;
    world.drain_all();
    world.create_pods(0, 1);
    world.answer_look(GroupApi::plugins);
    REQUIRE(world.job_count() == 1);
    world.kill_agent();
    world.slurm.scancel(world.only_job().job.ref.id);

    world.start_agent();
    world.pass(seconds(5));
    CHECK(world.pod("t-0")->phase != "Failed");
    world.answer_look(GroupApi::plugins);
    world.pass(seconds(5));
    CHECK(world.pod("t-0")->phase == "Failed");
    CHECK(world.job_count() == 1);
}

TEST_CASE("an API that goes and comes again: Pods wait, and are one gang")
{
    Looks world;
    world.apis_there = {GroupApi::plugins};
    world.put_group(world.group(2));
    world.start_agent();
    world.drain_all();
    world.create_pods(0, 2);
    REQUIRE(world.slurm.living().size() == 1);

    world.apis_there.clear();
    world.groups.clear();
    world.answer_look(GroupApi::plugins);
    world.pass(seconds(5)); // their conditions change meanwhile
    CHECK(world.slurm.living().empty());
    CHECK(world.said_on("t-0") == "PodGroup g does not exist yet.");

    for (const Node &node : world.nodes)
        world.slurm.resume_by_hand(node.name);
    world.apis_there = {GroupApi::plugins};
    world.answer_look(GroupApi::plugins);
    world.pass(seconds(5));
    CHECK(world.bound(2) == 0);
    world.put_group(world.group(2, "u-2"));
    world.pass(seconds(5));
    CHECK(world.bound(2) == 2);
    CHECK(world.slurm.living().size() == 1);
    CHECK(world.job_of_group().job.tasks == 2);
}

TEST_CASE("an API that goes leaves alone what runs, and new Pods are alone")
{
    Looks world;
    world.apis_there = {GroupApi::plugins};
    world.put_group(world.group(2));
    world.start_agent();
    world.create_pods(0, 2);
    world.run_all(2);
    world.apis_there.clear();
    world.groups.clear();
    world.answer_look(GroupApi::plugins);
    world.pass(seconds(60));
    CHECK(world.only_job().job.state == JobState::running);

    world.create_pods(2, 3);
    world.answer_look(GroupApi::plugins);
    CHECK(world.is_alone(2));
    CHECK(world.slurm.living().size() == 2);
}
