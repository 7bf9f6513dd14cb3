// SPDX-License-Identifier: GPL-2.0-or-later
// Worlds in which batch jobs are submitted for whose scripts there is srun.
#pragma once

#include "agent/batch/srun.h"
#include "common/contract/names.h"
#include "tests/unit/fakes/decoded.h"
#include "tests/unit/flows/batch_nodes_world.h"
#include "tests/unit/flows/batch_world.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>
#include <string>
#include <vector>

namespace bridge {

inline constexpr char srun_program[] = "\x7f"
                                       "ELF srun";

// Of the only Pod, too.
inline std::uint32_t rank_of(const Pod &pod)
{
    auto place = batch_place(pod);
    return place ? place->rank : 0;
}

template <class JobWorld> struct WithSrun : JobWorld {
    using JobWorld::kube;

    TemporaryDirectory home;

    WithSrun()
    {
        for (Node &node : JobWorld::nodes)
            node.labels[names::arch_label] = srun_architecture();
        JobWorld::srun = home.path + "/slurmk8s-srun";
        std::ofstream(JobWorld::srun) << srun_program;
    }

    // The agent may not get these, and so has no right to srun at all.
    void deny(const char *resource)
    {
        access_.set({{{Feature::sbatch_srun, "get", "", resource, "",
                       Right::Where::batch_namespace}}});
        JobWorld::access = &access_;
    }
    // By the marks on its Pods, in the order of their ranks.
    std::vector<Pod> pods_of(JobRef job) const
    {
        std::vector<Pod> found;
        for (const Pod &pod : kube.pods())
            if (auto mark = batch_mark(pod); mark && mark->job == job)
                found.push_back(pod);
        std::ranges::sort(found, {}, rank_of);
        return found;
    }
    std::string file_in_secret(JobRef job, const char *name) const
    {
        std::string text = kube.secret(pods_of(job).front().key);
        REQUIRE_FALSE(text.empty());
        return decoded(Json::parse(text)->at("data").member(name).text());
    }
    std::string key_of(JobRef job) const
    {
        return file_in_secret(job, "step.key");
    }
    std::string no_srun_of(JobRef job) const
    {
        return file_in_secret(job, "no-srun");
    }
    std::string command_of(const Pod &pod) const
    {
        return Json::parse(kube.pod_bodies.at(pod.key))
            ->text("spec/containers/0/command/0");
    }
    bool has_program(const Pod &pod) const
    {
        return kube.pod_bodies.at(pod.key).contains("\"configMap\"");
    }
    // No Pod has the program, and the script's says why; the job runs all the
    // same.
    void check_without(JobRef job, const char *words) const
    {
        JobWorld::check_runs(job);
        for (const Pod &pod : pods_of(job)) {
            CHECK_FALSE(has_program(pod));
            CHECK(command_of(pod) == "/bin/sh");
        }
        CHECK_MESSAGE(no_srun_of(job).contains(words), no_srun_of(job));
    }

  private:
    Access access_;
};

struct OneSrunWorld : WithSrun<BatchWorld> {};

struct SrunWorld : WithSrun<NodesWorld> {
    // The kubelet of that Pod's node says where it is.
    void give_address(const Pod &pod, const std::string &address)
    {
        kube.addresses[pod.uid] = address;
    }
    void give_addresses(JobRef job)
    {
        int last = 1;
        for (const Pod &pod : pods_of(job))
            give_address(pod, "10.0.0." + std::to_string(last++));
    }
    // What the script's Pod says of where all are; the others say nothing.
    bool all_say(JobRef job, const std::string &text) const
    {
        return std::ranges::all_of(pods_of(job), [&](const Pod &pod) {
            return pod.annotation("slurmk8s/sbatch-hosts") ==
                   (rank_of(pod) == 0 ? text : "");
        });
    }
};

// What the script's Pod says of where three Pods are after give_addresses().
inline constexpr char three_hosts[] = "0 kn1 10.0.0.1\n1 kn2 10.0.0.2\n"
                                      "2 kn3 10.0.0.3\n";

} // namespace bridge
