// SPDX-License-Identifier: GPL-2.0-or-later
// A WorkerKeeper whose Pods and whose slurmctld are fakes.
#pragma once

#include "agent/workers/keeper.h"
#include "common/slurm/queue.h"
#include "tests/unit/fakes/fake_slurm.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

using namespace std::chrono_literals;

inline constexpr char drained_type[] = "slurmk8s/Drained";

// The API server: keeps what was written, may be away, or may not answer for
// one Pod.
class FakePods : public WorkerWriter {
  public:
    void begin(WorkerWrite write) override
    {
        tries++;
        begun.push_back(std::move(write));
    }

    Result<> patch(const WorkerPod &pod, const WorkerPatch &patch)
    {
        if (away)
            return fail(Code::busy, "away");
        if (uid_of[pod.key.name] != pod.uid)
            return fail(Code::not_found, "another Pod");
        writes++;
        if (on_patch)
            on_patch();
        for (const auto &[type, condition] : patch.conditions)
            conditions[pod.key.name][type] = condition;
        if (patch.protect)
            protect[pod.key.name] = *patch.protect;
        if (lost)
            return fail(Code::uncertain, "the connection broke");
        return {};
    }

    bool away = false;
    bool lost = false;              // it writes, and nobody hears of it
    std::string hangs;              // the name of a Pod
    std::function<void()> on_patch; // what happens meanwhile
    int tries = 0;
    int writes = 0;
    std::vector<WorkerWrite> begun;
    std::map<std::string, std::string> uid_of;
    std::map<std::string, std::map<std::string, WorkerCondition>> conditions;
    std::map<std::string, std::string> protect;
};

struct KeeperBed {
    FakeSlurm slurm;
    FakePods pods;
    WorkerKeeper keeper;
    Clock::time_point now{};

    explicit KeeperBed(const std::string &controller = {})
        : keeper(slurm, pods, controller)
    {
    }

    // A worker whose slurmd has registered.
    WorkerPod worker(const std::string &name, const std::string &uid = "u1")
    {
        WorkerPod pod;
        pod.key = {"slurm", name};
        pod.uid = uid;
        pod.slurm_node = name;
        pod.addresses = {"10.0.0.7"};
        pod.placed = true;
        pods.uid_of[name] = uid;
        return pod;
    }

    void register_node(const std::string &name)
    {
        NodeDescription node;
        node.name = name;
        node.address = "10.0.0.7";
        node.cpus = 4;
        node.memory.value = 1000;
        node.features = "w";
        REQUIRE(slurm.create_node(node).has_value());
    }

    // As an external job, which its nodes are: slurmd is not played.
    JobRef submit_job()
    {
        JobDescription job;
        job.features = "w";
        job.tag.uid = "u9";
        auto made = slurm.submit(job);
        REQUIRE(made.has_value());
        return *made;
    }

    JobRef start_job()
    {
        JobRef job = submit_job();
        slurm.schedule();
        return job;
    }

    // Until no more is written: each write that is over leads to a turn, unless
    // the last one has failed.
    Result<> turn()
    {
        now += 1s;
        auto done = keeper.turn(now);
        while (deliver() && done)
            done = keeper.turn(now);
        return done;
    }

    // One only, and what it has begun to write.
    void one_turn()
    {
        REQUIRE(keeper.turn(now).has_value());
        CHECK(deliver());
    }

    // Whether a write has ended.
    bool deliver()
    {
        std::vector<WorkerWrite> hanging;
        bool any = false;
        for (WorkerWrite &write : std::exchange(pods.begun, {})) {
            if (write.pod.key.name == pods.hangs) {
                hanging.push_back(std::move(write));
                continue;
            }
            keeper.written(write.pod.key, write.pod.uid,
                           pods.patch(write.pod, write.patch), now);
            any = true;
        }
        pods.begun = std::move(hanging);
        return any;
    }

    // The longest pause after failures has passed.
    void rest() { now += 30s; }

    // Its node is there, and the keeper has listed the Pod and had a turn.
    WorkerPod listed(const WorkerPod &pod)
    {
        register_node(pod.key.name);
        keeper.list("slurm", {pod}, {});
        REQUIRE(turn().has_value());
        return pod;
    }
    WorkerPod listed(const std::string &name) { return listed(worker(name)); }

    // Its drain was asked for, and answered with True.
    WorkerPod answered(WorkerPod pod)
    {
        pod.request = {1, true};
        listed(pod);
        for (int i = 0; i < 2; i++)
            REQUIRE(turn().has_value());
        REQUIRE(answer(pod.key.name) == "True");
        return pod;
    }
    WorkerPod answered(const std::string &name)
    {
        return answered(worker(name));
    }

    // What the API server has of the Pod, as the watch would tell it.
    WorkerPod seen(WorkerPod pod)
    {
        for (const auto &[type, condition] : pods.conditions[pod.key.name])
            pod.conditions[type] = condition;
        pod.protect = pods.protect[pod.key.name];
        return pod;
    }

    std::string answer(const std::string &name)
    {
        auto &all = pods.conditions[name];
        return all.contains(drained_type) ? all[drained_type].status : "";
    }
};

} // namespace bridge
