// SPDX-License-Identifier: GPL-2.0-or-later
// Pods onto the nodes of their gang's job, and the job that is asked for them.
#include "agent/decide/gang_place.h"

#include "agent/decide/translate.h"
#include "common/slurm/het_job.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

#include <memory>

using namespace bridge;

namespace {

const NodeMap both{{"kn1", "kn1"}, {"kn2", "node-2"}};

Gang three(JobState state)
{
    Gang gang = make_train(
        {make_member("a", "3"), make_member("b", "3"), make_member("c", "3")});
    gang.job = make_train_job(state, 3);
    return gang;
}

std::vector<std::string> nodes_of(const std::vector<Seat> &seats)
{
    std::vector<std::string> nodes;
    for (const Seat &seat : seats)
        nodes.push_back(seat.node);
    return nodes;
}

// As the binding of its seat makes it.
void seat(Gang &gang, std::size_t i, const std::string &slurm_node,
          std::uint32_t rank)
{
    Pod pod = with_binding(*gang.pods[i], *gang.job, both.at(slurm_node));
    pod.annotations[names::node_annotation] = slurm_node;
    pod.annotations[names::rank_annotation] = std::to_string(rank);
    gang.pods[i] = share(std::move(pod));
}

void end_pod(Gang &gang, std::size_t i, const std::string &phase)
{
    gang.pods[i] = share(with_end(*gang.pods[i], phase));
}

using Tasks = std::vector<std::uint32_t>;

} // namespace

TEST_CASE("every node of a job gets a task, then they are filled in order")
{
    Job job = make_train_job(JobState::running, 6);
    job.cpus_per_task = 2;
    job.nodes = {"a", "b", "c"};

    job.cpus_on = {8, 2, 2};
    CHECK(tasks_on_nodes(job) == Tasks{4, 1, 1});
    job.cpus_on = {16, 16, 16}; // as an exclusive one has
    CHECK(tasks_on_nodes(job) == Tasks{4, 1, 1});
    job.cpus_on = {5, 4, 6}; // whole cores were given
    CHECK(tasks_on_nodes(job) == Tasks{2, 2, 2});
    job.cpus_on = {4, 1, 4}; // too little
    CHECK(tasks_on_nodes(job) == Tasks{2, 0, 2});
    job.cpus_on = {4}; // read in a moment of change
    CHECK(tasks_on_nodes(job) == Tasks{2, 0, 0});
    job.cpus_per_task = 0;
    CHECK(tasks_on_nodes(job) == Tasks{4, 0, 0});
}

TEST_CASE("a node has as many tasks as it was given GRES for")
{
    Job job = make_train_job(JobState::running, 6);
    job.nodes = {"a", "b", "c"};
    job.cpus_on = {16, 16, 16};
    job.gres_per_task = "gres/gpu:2";
    CHECK(tasks_on_nodes(job) == Tasks{4, 1, 1}); // not read yet

    job.gres_on = {{{"gpu", "", 2, {0, 1}}},
                   {{"gpu", "", 8, {0, 1, 2, 3, 4, 5, 6, 7}}},
                   {{"gpu", "", 2, {2, 3}}}};
    CHECK(tasks_on_nodes(job) == Tasks{1, 4, 1});
    job.gres_on[0].clear();
    CHECK(tasks_on_nodes(job) == Tasks{0, 4, 1});
    job.gres_per_task.clear();
    CHECK(tasks_on_nodes(job) == Tasks{4, 1, 1});
}

TEST_CASE("a Pod that has devices is seated where they are, in its rank")
{
    Gang gang = three(JobState::configuring);
    gang.devices = std::make_shared<const GangDevices>(
        GangDevices{.at = {{"uid-c", "kn1"}}});

    auto seats = seat_pods(gang, both);

    REQUIRE(seats);
    CHECK(*seats == std::vector<Seat>{{"uid-a", "kn1", "kn1", 0},
                                      {"uid-b", "node-2", "kn2", 1},
                                      {"uid-c", "kn1", "kn1", 2}});

    gang.devices = std::make_shared<const GangDevices>(
        GangDevices{.at = {{"uid-c", "elsewhere"}}});
    CHECK(seat_pods(gang, both)->at(2).slurm_node == "kn2");
}

TEST_CASE("neighbours in rank are neighbours on the nodes")
{
    auto seats = seat_pods(three(JobState::configuring), both);

    REQUIRE(seats);
    CHECK(*seats == std::vector<Seat>{{"uid-a", "kn1", "kn1", 0},
                                      {"uid-b", "kn1", "kn1", 1},
                                      {"uid-c", "node-2", "kn2", 2}});
}

TEST_CASE("those that are bound keep their seats, the rest get theirs")
{
    Gang gang = three(JobState::configuring);
    seat(gang, 0, "kn1", 0);
    seat(gang, 2, "kn2", 2);

    auto seats = seat_pods(gang, both);

    REQUIRE(seats);
    CHECK(*seats == std::vector<Seat>{{"uid-b", "kn1", "kn1", 1}});
}

TEST_CASE("bindings that no watch shows yet count")
{
    Gang gang = three(JobState::configuring);
    gang.assumed_bound["uid-a"] = {"uid-a", "kn1", "kn1", 0};
    gang.assumed_bound["uid-b"] = {"uid-b", "kn1", "kn1", 1};

    CHECK(seat_pods(gang, both)->front() == Seat{"uid-c", "node-2", "kn2", 2});

    // One of unknown outcome is not tried elsewhere.
    gang = three(JobState::configuring);
    gang.maybe_bound["uid-a"] = {"uid-a", "node-2", "kn2", 0};
    CHECK(nodes_of(*seat_pods(gang, both)) ==
          std::vector<std::string>{"node-2", "kn1", "kn1"});
}

TEST_CASE("a Pod that was made again takes the seat and the rank of the last")
{
    Gang gang = three(JobState::running);
    GangKey key = *gang.pods[1]->gang;
    key.indexed = true;
    key.index = 1;
    Pod failed = *gang.pods[1];
    failed.gang = std::make_shared<const GangKey>(key);
    gang.pods[1] = share(failed);
    seat(gang, 0, "kn1", 0);
    seat(gang, 1, "kn1", 1);
    seat(gang, 2, "kn2", 2);
    Pod again = make_member("b-again", "3");
    again.gang = failed.gang;
    gang.pods.insert(gang.pods.begin() + 2, share(again));

    CHECK(seat_pods(gang, both).error().message == "its 3 tasks are taken");

    end_pod(gang, 1, "Failed");
    CHECK(seat_pods(gang, both) ==
          std::vector<Seat>{{"uid-b-again", "kn1", "kn1", 1}});
}

TEST_CASE("of those that came to a running gang too late, some may have seats")
{
    Gang gang = three(JobState::running);
    seat(gang, 0, "kn1", 0);
    end_pod(gang, 0, "Failed");
    seat(gang, 2, "kn2", 2);
    gang.pods.push_back(share(make_member("d", "3", MilliCpu{4000})));
    gang.pods.push_back(share(make_member("e", "3")));
    gang.pods.push_back(share(make_member("f", "3")));

    CHECK(nodes_of(*seat_pods(gang, both)) ==
          std::vector<std::string>{"kn1", "kn1"}); // b and e
}

TEST_CASE("once all tasks are taken, Pods that came late change nothing")
{
    Gang gang = three(JobState::running);
    seat(gang, 0, "kn1", 0);
    seat(gang, 1, "kn1", 1);
    gang.pods[2] = share(make_member("d", "3", MilliCpu{4000}));
    gang.pods.push_back(share(make_member("e", "3")));
    for (int i = 0; i < 2000; i++) {
        Pod late = make_member("late-" + std::to_string(i), "3");
        late.annotations["slurmk8s/qos"] = "high";
        gang.pods.push_back(share(std::move(late)));
    }
    CHECK(seat_pods(gang, both) ==
          std::vector<Seat>{{"uid-e", "node-2", "kn2", 2}});

    // Without a free task, the first of them says why.
    seat(gang, 3, "kn2", 2);
    CHECK(seat_pods(gang, both).error().message.contains("Pod d asks for 4"));
    gang.pods.erase(gang.pods.begin() + 2);
    CHECK(seat_pods(gang, both)
              .error()
              .message.contains(
                  "Pod late-0: annotation slurmk8s/qos must be the same"));
}

TEST_CASE("of the Pods of a new gang that have no seat, the first says why")
{
    Gang gang = three(JobState::configuring);
    gang.pods.push_back(share(make_member("d", "3")));
    gang.pods.push_back(share(make_member("e", "3", MilliCpu{4000})));
    CHECK(seat_pods(gang, both).error().message == "its 3 tasks are taken");

    gang.elastic = true;
    CHECK(seat_pods(gang, both)->size() == 3);

    gang.pods[1] = share(make_member("b", "3", MilliCpu{2000}));
    CHECK(seat_pods(gang, both).error().message.contains("Pod b asks for 2"));
}

TEST_CASE("a Pod that comes late has no seat with a grace period that is not "
          "allowed")
{
    Gang gang = three(JobState::running);
    gang.grace.allowed = std::chrono::seconds(60);
    seat(gang, 0, "kn1", 0);
    Pod late = *gang.pods[1];
    late.grace_period = std::chrono::seconds(61);
    gang.pods = {gang.pods[0], share(late)};

    auto seats = seat_pods(gang, both);
    REQUIRE_FALSE(seats.has_value());
    CHECK(seats.error().message.contains("terminationGracePeriodSeconds"));
    gang.grace.allowed = std::chrono::seconds(61);
    CHECK(seat_pods(gang, both).has_value());
}

TEST_CASE("a Pod that a task does not cover is said so")
{
    Gang gang = three(JobState::configuring);
    gang.pods[1] = share(make_member("b", "3", MilliCpu{2000}));
    CHECK(seat_pods(gang, both)
              .error()
              .message.contains(
                  "a task of it has 1 CPUs and 1 MiB, Pod b asks for 2"));

    gang.pods[1] = share(make_member("b", "3"));
    gang.job->memory_per_cpu = MebiBytes{0};
    CHECK(seat_pods(gang, both).error().code == Code::conflict);

    gang = three(JobState::configuring);
    CHECK(seat_pods(gang, {{"kn1", "kn1"}})
              .error()
              .message.contains("Slurm node kn2 has no Kubernetes Node"));
}

TEST_CASE("the last of each place says how the gang ended")
{
    Gang gang = three(JobState::running);
    GangKey key = *gang.pods[0]->gang;
    key.indexed = true;
    Pod first = *gang.pods[0];
    first.gang = std::make_shared<const GangKey>(key);
    gang.pods[0] = share(first);
    seat(gang, 0, "kn1", 0);
    end_pod(gang, 0, "Failed");
    Pod again = with_end(
        with_binding(make_member("a-2", "3"), *gang.job, "kn1"), "Succeeded");
    again.gang = first.gang;
    again.created += std::chrono::seconds(5);
    gang.pods.insert(gang.pods.begin() + 1, share(again));

    auto last = last_of_job(gang);

    REQUIRE(last.size() == 1); // the others wait
    CHECK(last[0]->key.name == "a-2");

    // Another controller, or no index, is another place.
    Pod other = again;
    other.owner.uid = "other";
    Pod alone = again;
    key.indexed = false;
    alone.gang = std::make_shared<const GangKey>(key);
    for (const Pod &pod : {other, alone, alone, first}) {
        Pod bound = with_binding(pod, *gang.job, "kn1");
        gang.pods.push_back(share(with_end(bound, "Succeeded")));
    }
    last = last_of_job(gang);
    REQUIRE(last.size() == 4);
    CHECK(last[0]->key.name == "a-2"); // it was created after the first
    CHECK(last[1]->owner.uid == "other");
}

TEST_CASE("a gang's job has a task for each Pod, as large as the largest")
{
    Gang gang = make_train({make_member("a", "3", MilliCpu{500}),
                            make_member("b", "3", MilliCpu{3500}),
                            make_member("c", "3")});
    Conf conf;
    JobDescription job = describe_job(gang, {}, conf);

    CHECK(unfit_reason(gang) == "");
    CHECK(job.name == "train");
    CHECK(job.tasks == 3);
    CHECK(job.cpus_per_task == 4);
    CHECK(job.min_nodes == 1);
    CHECK(job.max_nodes == 3);
    CHECK(job.memory_per_node == MebiBytes{});
    CHECK(job.memory_per_cpu == MebiBytes{1});
    CHECK(job.tag ==
          GangTag{"default/train", "default/gang/train", 0, "uid-a"});
}

TEST_CASE("a gang's job has room for Pods that are still to come")
{
    Gang gang = make_train({make_member("a", "8", {1000}, "1")});
    gang.size = 8;

    CHECK(describe_job(gang, {}, {}).tasks == 8);
    CHECK(describe_job(gang, {}, {}).max_nodes == 8);
}

TEST_CASE("a gang runs as long as any of its Pods may")
{
    Pod a = make_member("a", "2");
    Pod b = make_member("b", "2");
    a.active_deadline = 60;
    CHECK_FALSE(describe_job(make_train({a, b}), {}, {}).time_limit);
    b.active_deadline = 600;
    CHECK(describe_job(make_train({a, b}), {}, {}).time_limit == 10);
}

TEST_CASE("Pods of a gang may not ask for different jobs")
{
    auto reason_of = [](auto change) {
        Pod b = make_member("b", "2");
        change(b);
        return unfit_reason(make_train({make_member("a", "2"), b}));
    };

    CHECK(reason_of([](Pod &) {}) == "");
    CHECK(reason_of([](Pod &pod) {
              pod.annotations["slurmk8s/partition"] = "debug";
          }).contains("Pod b: annotation slurmk8s/partition must be the same"));
    CHECK(reason_of([](Pod &pod) {
              auto made = Predicate::make({}, {Toleration{}});
              REQUIRE(made);
              pod.predicate = *made;
          }).contains("the same Nodes"));
}

TEST_CASE("a binding tells a Pod its rank and the nodes of its gang")
{
    Gang gang = three(JobState::configuring);
    TextMap said =
        binding_annotations(*gang.job, Seat{"uid-c", "node-2", "kn2", 2});

    CHECK(said.at("slurmk8s/rank") == "2");
    CHECK(said.at("slurmk8s/nodes") == "kn1,kn2");
    CHECK(said.at("slinky.slurm.net/slurm-node") == "kn2");
}

namespace {

// A component with a task of four CPUs on kn1, and one with tasks of one on
// node-2.
Gang of_two_sizes()
{
    Gang gang =
        make_train({make_member("a", "3"), make_member("b", "3", {4000}),
                    make_member("c", "3")});
    Job job = make_train_job(JobState::configuring, 3);
    job.tag.components = 2;
    Job large = make_job(7, JobState::configuring);
    large.nodes = {"kn1"};
    large.cpus = large.cpus_per_task = 4;
    Job small = make_train_job(JobState::configuring, 2);
    small.ref = make_job(8, JobState::configuring).ref;
    small.nodes = {"kn2"};
    small.cpus = 2;
    job.components = {large, small};
    job.nodes = {"kn1", "kn2"};
    job.cpus_on = {4, 2};
    gang.job = job;
    return gang;
}

} // namespace

TEST_CASE(
    "of a heterogeneous job each Pod has a task of the smallest size that fits")
{
    Gang gang = of_two_sizes();

    CHECK(tasks_on_nodes(*gang.job) == Tasks{1, 2});
    auto seats = seat_pods(gang, both);
    REQUIRE(seats.has_value());
    CHECK(nodes_of(*seats) ==
          std::vector<std::string>{"node-2", "kn1", "node-2"});
    CHECK((*seats)[1].rank == 1);
    CHECK(binding_labels(component_on(*gang.job, (*seats)[1].slurm_node))
              .at(names::job_id_label) == "7");
    CHECK(binding_annotations(*gang.job, (*seats)[0])
              .at(names::sluid_annotation) ==
          gang.job->components[1].ref.sluid.str());
    CHECK(binding_annotations(*gang.job, (*seats)[0])
              .at(names::nodes_annotation) == "kn1,kn2");
}

TEST_CASE("a Pod that no component is large enough for has no seat")
{
    Gang gang = of_two_sizes();
    gang.pods[0] = share(make_member("a", "3", {5000}));

    auto seats = seat_pods(gang, both);
    REQUIRE_FALSE(seats.has_value());
    CHECK(seats.error().message.contains("asks for 5"));

    gang.pods[0] = share(make_member("a", "3", {4000})); // now there are two
    seats = seat_pods(gang, both);
    REQUIRE_FALSE(seats.has_value());
    CHECK(seats.error().message.contains("tasks are taken"));
}
