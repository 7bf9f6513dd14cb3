// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/set_keeper.h"
#include "agent/workers/worker_api.h"
#include "common/contract/worker_names.h"
#include "tests/unit/fakes/fake_slurm.h"

#include <doctest/doctest.h>
#include <string>
#include <utility>
#include <vector>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

class NoWrites : public WorkerWriter {
  public:
    void begin(WorkerWrite) override {}
};

class FakeScaler : public SetScaler {
  public:
    void begin(SetScale scale) override { begun.push_back(std::move(scale)); }

    std::vector<SetScale> begun;
};

// Of the nodes and jobs of FakeSlurm; nobody schedules ordinary jobs.
class FakeQueue : public SlurmQueue {
  public:
    explicit FakeQueue(FakeSlurm &slurm) : slurm_(slurm) {}

    Result<std::optional<JobQueue>>
    load_queue_since(std::int64_t as_of) override
    {
        if (std::exchange(away, false))
            return fail(Code::busy, "away");
        if (as_of != 0 && as_of == queue.as_of)
            return std::nullopt;
        return queue;
    }
    Result<IdleTimes> load_idle_times() override
    {
        loads++;
        return idle;
    }
    Result<> create_future_nodes(const FutureNodes &nodes) override
    {
        created++;
        NodeDescription node;
        node.address = no_address;
        node.cpus = 4;
        node.memory.value = 1000;
        node.features = nodes.feature;
        for (const std::string &name : nodes.names) {
            node.name = name;
            if (auto made = slurm_.create_node(node); !made)
                return made;
        }
        return {};
    }

    JobQueue queue;
    IdleTimes idle;
    bool away = false; // the next time
    int loads = 0;
    int created = 0;

  private:
    FakeSlurm &slurm_;
};

struct Bed {
    FakeSlurm slurm;
    FakeQueue queue{slurm};
    NoWrites writer;
    FakeScaler scaler;
    WorkerKeeper workers;
    SetKeeper keeper;
    Clock::time_point now{};
    std::chrono::sys_seconds wall{1'800'000'000s};

    explicit Bed(const std::string &controller = {})
        : workers(slurm, writer, controller),
          keeper(slurm, queue, scaler, workers, controller)
    {
        Partition partition;
        partition.name = "w";
        partition.nodes = {"w-0", "w-1", "w-2"};
        partition.up = true;
        slurm.partitions = {partition};
        queue.queue.as_of = 1;
        workers.list("ns", {}, {});
    }

    static WorkerSet node_set(std::int64_t replicas = 0)
    {
        WorkerSet set;
        set.key = {"ns", "w"};
        set.uid = "u0";
        set.controller = "slurm";
        set.replicas = replicas;
        set.potential = PotentialWorkers{.range = {0, 3},
                                         .idle_time = 300s,
                                         .prefix = "w-",
                                         .digits = 0,
                                         .conf = "CPUs=4 Feature=w"};
        return set;
    }

    WorkerPod add_pod(const std::string &name)
    {
        WorkerPod pod;
        pod.key = {"ns", name};
        pod.uid = "u-" + name;
        pod.controller = "slurm";
        pod.node_set = "w";
        pod.slurm_node = name;
        pod.placed = true;
        pod.created = wall;
        workers.change(pod);
        return pod;
    }

    void wait_for_nodes(std::uint32_t nodes)
    {
        WaitingJob job;
        job.id = 1;
        job.priority = 1;
        job.partitions = {"w"};
        job.nodes = job.cpus = job.tasks = nodes;
        queue.queue.waiting = {job};
        queue.queue.as_of++;
    }

    Result<> turn(std::chrono::seconds later = 1s)
    {
        now += later;
        wall += later;
        if (auto done = workers.turn(now); !done)
            return done;
        return keeper.turn(now, wall);
    }

    // The replicas that it asks for, which it gets; -1: none.
    int scaled(std::chrono::seconds later = 1s)
    {
        REQUIRE(turn(later).has_value());
        auto begun = std::exchange(scaler.begun, {});
        if (begun.empty())
            return -1;
        REQUIRE(begun.size() == 1);
        keeper.scaled(begun[0], {}, now);
        return static_cast<int>(begun[0].replicas);
    }
};

} // namespace

TEST_CASE("sets: slurmctld gets the nodes of workers that may come, DOWN and "
          "with their features")
{
    Bed bed;
    bed.keeper.list("ns", {Bed::node_set()});
    CHECK(bed.scaled() == -1);
    for (const char *name : {"w-0", "w-1", "w-2"}) {
        const SlurmNode &node = bed.slurm.node(name);
        CHECK(node.down);
        CHECK(node.features == "w");
        CHECK(not_started_set(node) == ObjectKey{"ns", "w"});
    }
    CHECK(bed.scaled() == -1);
    CHECK(bed.queue.created == 1);
}

TEST_CASE("sets: what an agent has left half made is made anew")
{
    for (const char *call :
         {"set_down", "set_features", "rebuild_partitions", "set_extra"}) {
        Bed bed;
        bed.keeper.list("ns", {Bed::node_set()});
        bed.slurm.fail_next(call, Code::busy);
        (void)bed.turn();
        SetKeeper other(bed.slurm, bed.queue, bed.scaler, bed.workers);
        other.list("ns", {Bed::node_set()});
        for (int i = 0; i < 3; i++) {
            bed.now += 1s;
            CHECK(other.turn(bed.now, bed.wall).has_value());
        }
        CHECK(not_started_set(bed.slurm.node("w-1")));
        CHECK(bed.slurm.node("w-1").features == "w");
        CHECK_FALSE(bed.slurm.node("w-1").extra.empty());
    }
}

TEST_CASE("sets: from none to two for a job of two nodes, and back")
{
    Bed bed;
    bed.keeper.list("ns", {Bed::node_set()});
    CHECK(bed.scaled() == -1);
    bed.wait_for_nodes(2);
    CHECK(bed.scaled() == 2);
    CHECK(bed.scaled() == -1);
    bed.add_pod("w-0");
    bed.add_pod("w-1");
    CHECK(bed.scaled() == -1);

    bed.queue.queue.waiting.clear();
    bed.queue.queue.busy = {"w-0", "w-1"};
    bed.queue.queue.as_of++;
    CHECK(bed.scaled() == -1);
    CHECK(bed.scaled(1h) == -1);
    bed.queue.queue.busy = {"w-1"};
    bed.queue.queue.as_of++;
    CHECK(bed.scaled() == 1); // it was idle for longer
    bed.queue.queue.busy.clear();
    bed.queue.queue.as_of++;
    CHECK(bed.scaled() == 0);
}

TEST_CASE("sets: a worker stays for a while after it has come")
{
    Bed bed;
    bed.keeper.list("ns", {Bed::node_set(1)});
    bed.add_pod("w-0");
    CHECK(bed.scaled() == -1);
    CHECK(bed.scaled(297s) == -1);
    CHECK(bed.queue.loads == 0);
    CHECK(bed.scaled() == -1);
    CHECK(bed.scaled() == 0);
    CHECK(bed.queue.loads == 1);
}

TEST_CASE("sets: since when a worker is idle is asked before it goes")
{
    Bed bed;
    bed.keeper.list("ns", {Bed::node_set(1)});
    WorkerPod pod = bed.add_pod("w-0");
    pod.addresses = {no_address}; // its slurmd has registered
    bed.workers.change(pod);
    CHECK(bed.scaled() == -1);
    bed.queue.idle["w-0"] = bed.wall + 200s;
    CHECK(bed.scaled(400s) == -1);
    CHECK(bed.scaled(90s) == -1);
    CHECK(bed.scaled(20s) == 0);
}

TEST_CASE("sets: nothing changes while slurmctld does not answer")
{
    Bed bed;
    bed.keeper.list("ns", {Bed::node_set(2)});
    bed.queue.away = true;
    CHECK_FALSE(bed.turn().has_value());
    CHECK(bed.scaler.begun.empty());
    CHECK(bed.scaled() == 0);
}

TEST_CASE("sets: replicas that cannot be set are tried again after a pause")
{
    Bed bed;
    bed.keeper.list("ns", {Bed::node_set(2)});
    REQUIRE(bed.turn().has_value());
    REQUIRE(bed.scaler.begun.size() == 1);
    REQUIRE(bed.turn().has_value());
    CHECK(bed.scaler.begun.size() == 1); // it is under way
    bed.keeper.scaled(bed.scaler.begun[0], fail(Code::denied, "forbidden"),
                      bed.now);
    CHECK(bed.keeper.failure() == "forbidden");
    bed.scaler.begun.clear();
    CHECK(bed.scaled(30s) == 0);
    CHECK(bed.keeper.failure().empty());
}

TEST_CASE("sets: the nodes of a set that goes are removed, those of others "
          "stay")
{
    Bed bed;
    bed.keeper.list("ns", {Bed::node_set()});
    CHECK(bed.scaled() == -1);
    bed.slurm.add_real_node("native");
    WorkerSet set = Bed::node_set();
    set.ending = true;
    bed.keeper.change(set);
    CHECK(bed.scaled() == -1);
    auto nodes = bed.slurm.load_nodes();
    REQUIRE(nodes.has_value());
    REQUIRE(nodes->size() == 1);
    CHECK(nodes->front().name == "native");
}

TEST_CASE("sets: with NodeSets of two Controllers k8s.conf must say whose they "
          "are")
{
    WorkerSet other = Bed::node_set();
    other.key.name = "x";
    other.controller = "east";
    Bed bed;
    bed.keeper.list("ns", {Bed::node_set(2), other});
    CHECK(bed.scaled() == -1);
    Bed named("slurm");
    named.keeper.list("ns", {Bed::node_set(2), other});
    CHECK(named.scaled() == 0);
}

TEST_CASE("sets: a NodeSet without the operator's word does not follow the "
          "queue")
{
    auto json = Json::parse(R"({"metadata": {"namespace": "ns", "name": "w",
        "uid": "u", "annotations": {"slurmk8s/autoscale": "0-3"}},
        "spec": {"controllerRef": {"name": "slurm"}, "replicas": 2}})");
    REQUIRE(json.has_value());
    WorkerSet set = worker_set_from(*json);
    CHECK(set.key == ObjectKey{"ns", "w"});
    CHECK(set.replicas == 2);
    CHECK(set.controller == "slurm");
    CHECK_FALSE(set.follows_queue());
    Bed bed;
    bed.keeper.list("ns", {set});
    CHECK(bed.scaled() == -1);
    CHECK(bed.queue.created == 0);
}

TEST_CASE("sets: only the replicas are written, by the scale subresource")
{
    CHECK(scale_path({"ns", "w"}) ==
          "/apis/slinky.slurm.net/v1beta1/namespaces/ns/nodesets/w/scale");
    CHECK(scale_body(3) == R"({"spec":{"replicas":3}})");
}
