// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/fakes/slurm_contract.h"

#include "common/contract/names.h"
#include "common/slurm/het_job.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <optional>

namespace bridge {

namespace {

// A feature that only our own node has, so that its jobs run nowhere else.
constexpr char feature[] = "contract";

Code code_of(const auto &result)
{
    REQUIRE_FALSE(result.has_value());
    CHECK_FALSE(result.error().message.empty());
    return result.error().code;
}

JobDescription description(const SlurmSetup &setup, const std::string &name)
{
    JobDescription job;
    job.name = name;
    job.user_id = setup.user_id;
    job.group_id = setup.group_id;
    job.partition = setup.partition;
    job.features = feature;
    job.memory_per_node = MebiBytes{100};
    job.time_limit = 10;
    job.tag = {"contract/" + name, "uid-" + name, 3};
    return job;
}

std::optional<SlurmNode> find_node(Slurm &slurm, const std::string &name)
{
    auto nodes = slurm.load_nodes();
    REQUIRE(nodes.has_value());
    for (const SlurmNode &node : *nodes)
        if (node.name == name)
            return node;
    return std::nullopt;
}

void check_nodes(Slurm &slurm, const SlurmSetup &setup)
{
    auto cluster = slurm.load_cluster();
    REQUIRE(cluster.has_value());
    CHECK_FALSE(cluster->name.empty());
    CHECK(cluster->controller_port != 0);
    CHECK_FALSE(find_node(slurm, setup.node));
    auto grace = slurm.load_grace_times();
    REQUIRE_MESSAGE(grace.has_value(), grace.error().message);
    CHECK(grace->kill_wait.count() > 0);

    const std::string features = setup.partition_feature + "," + feature;
    NodeDescription node{setup.node, "127.0.0.1",     cluster->controller_port,
                         4,          MebiBytes{1000}, features,
                         {}};
    REQUIRE(slurm.create_node(node).has_value());
    CHECK(code_of(slurm.create_node(node)) == Code::rejected);

    auto made = find_node(slurm, setup.node);
    REQUIRE(made);
    CHECK(made->external);
    CHECK_FALSE(made->drained);
    CHECK(made->cpus == 4);
    CHECK(made->memory == MebiBytes{1000});
    CHECK(made->usable_cpus == 4);
    CHECK(made->usable_memory == MebiBytes{1000});
    CHECK(made->allocated_cpus == 0);
    CHECK(made->features == features);

    REQUIRE(slurm.set_features(setup.node, features + ",more", features)
                .has_value());
    CHECK(find_node(slurm, setup.node)->features == features + ",more");
    CHECK(find_node(slurm, setup.node)->active_features == features);

    REQUIRE(slurm.set_extra(setup.node, "some words").has_value());
    CHECK(find_node(slurm, setup.node)->extra == "some words");
    REQUIRE(slurm.set_extra(setup.node, "").has_value());
    CHECK(find_node(slurm, setup.node)->extra == "");
    CHECK(find_node(slurm, setup.node)->gres == "");

    auto since = slurm.load_nodes_since(0);
    REQUIRE(since);
    REQUIRE(*since);
    REQUIRE(slurm.rebuild_partitions().has_value());
    CHECK_FALSE(find_node(slurm, names::rebuild_node));
    CHECK(slurm.load_reservations().has_value());
    CHECK(code_of(slurm.drain(setup.node + ",no-such-node", "slurmk8sd: x")) ==
          Code::rejected);
    REQUIRE(slurm.resume(setup.node).has_value()); // the one that there is

    REQUIRE(slurm.drain(setup.node, "slurmk8sd: a test").has_value());
    CHECK(find_node(slurm, setup.node)->drained);
    CHECK(find_node(slurm, setup.node)->reason == "slurmk8sd: a test");
    REQUIRE(slurm.resume(setup.node).has_value());
    CHECK_FALSE(find_node(slurm, setup.node)->drained);

    CHECK(code_of(slurm.set_features("no-such-node", feature, feature)) ==
          Code::rejected);
    CHECK(code_of(slurm.drain("no-such-node", "x")) == Code::rejected);
    CHECK(code_of(slurm.delete_node("no-such-node")) == Code::rejected);
}

JobRef submit(Slurm &slurm, const SlurmSetup &setup, const std::string &name)
{
    auto job = slurm.submit(description(setup, name));
    REQUIRE_MESSAGE(job.has_value(), job.error().message);
    CHECK(job->id != 0);
    CHECK(job->sluid != Sluid{});
    return *job;
}

Job load(Slurm &slurm, JobRef ref)
{
    auto job = slurm.load(ref);
    REQUIRE_MESSAGE(job.has_value(), job.error().message);
    CHECK(job->ref == ref);
    return *job;
}

void check_refusals(Slurm &slurm, const SlurmSetup &setup)
{
    JobDescription nowhere = description(setup, "nowhere");
    nowhere.features = "no-node-has-this";
    CHECK(code_of(slurm.submit(nowhere)) == Code::rejected);

    JobDescription huge = description(setup, "huge");
    huge.memory_per_node = MebiBytes{std::uint64_t{1} << 40};
    CHECK(code_of(slurm.submit(huge)) == Code::rejected);
}

void check_lists(Slurm &slurm, JobRef ref)
{
    auto all = slurm.load_all();
    REQUIRE(all.has_value());
    CHECK(std::ranges::contains(*all, ref, [](const Job &j) { return j.ref; }));

    auto states = slurm.load_states();
    REQUIRE(states.has_value());
    CHECK(std::ranges::contains(*states, ref.id, &JobStateHint::id));
}

void check_identity(Slurm &slurm, JobRef ref)
{
    JobRef other{ref.id, Sluid{ref.sluid.value + 1}};
    JobRef unknown{ref.id + 1000000, ref.sluid};

    CHECK(code_of(slurm.load(other)) == Code::not_found);
    CHECK(code_of(slurm.complete(other, 0)) == Code::not_found);
    CHECK(code_of(slurm.cancel(other)) == Code::not_found);
    CHECK(slurm.resume_job(ref).has_value()); // it is not suspended
    CHECK_FALSE(load(slurm, ref).resumed);
    JobRef neither{unknown.id, other.sluid};
    CHECK_FALSE(slurm.resume_job(neither).has_value());
    CHECK(code_of(slurm.load(unknown)) == Code::not_found);
    CHECK_FALSE(is_ended(load(slurm, ref).state));
}

void check_batch(Slurm &slurm, const SlurmSetup &setup, const Job &job)
{
    auto batch = slurm.load_batch(job.ref);
    REQUIRE_MESSAGE(batch.has_value(), batch.error().message);
    CHECK(batch->job.ref == job.ref);
    CHECK(batch->user_id == setup.user_id);
    CHECK(batch->group_id == setup.group_id);
    CHECK(batch->name.starts_with("end"));
    CHECK(batch->hostlist == setup.node);
    CHECK(batch->job.memory_per_node == job.memory_per_node);
    CHECK(code_of(slurm.load_batch({job.ref.id, Sluid{job.ref.sluid.value +
                                                      1}})) == Code::not_found);

    GangTag tag = job.tag;
    tag.script = "0123456789abcdef0123456789abcdef";
    REQUIRE(slurm.set_tag(job.ref, tag).has_value());
    CHECK(load(slurm, job.ref).tag == tag);
    REQUIRE(slurm.set_tag(job.ref, job.tag).has_value());
}

// An allocation, and how it ends.
void check_end(Slurm &slurm, const SlurmSetup &setup, int status,
               JobState state)
{
    JobRef ref = submit(slurm, setup, "end" + std::to_string(status));
    REQUIRE(setup.wait([&] { return is_allocated(load(slurm, ref).state); }));
    Job job = load(slurm, ref);
    CHECK(job.tag == GangTag{"contract/end" + std::to_string(status),
                             "uid-end" + std::to_string(status), 3});
    CHECK(job.nodes == std::vector<std::string>{setup.node});
    CHECK(job.cpus == 1);
    CHECK(job.cpu_ids_on == std::vector<std::vector<std::uint32_t>>{{0}});
    CHECK(job.memory_per_node == MebiBytes{100});
    CHECK_FALSE(job.devices);
    CHECK(find_node(slurm, setup.node)->allocated_cpus == 1);
    CHECK(find_node(slurm, setup.node)->allocated_memory == MebiBytes{100});
    check_lists(slurm, ref);
    check_identity(slurm, ref);
    CHECK(slurm.set_comment(ref, "what a test says").has_value());
    check_batch(slurm, setup, job);

    REQUIRE(slurm.complete(ref, status).has_value());

    CHECK(load(slurm, ref).state == state);
    CHECK(find_node(slurm, setup.node)->allocated_cpus == 0);
    check_lists(slurm, ref); // it is known for a while
    CHECK(code_of(slurm.set_tag(ref, job.tag)) == Code::rejected);
    CHECK(code_of(slurm.resume_job(ref)) == Code::rejected);
    CHECK(slurm.complete(ref, status).has_value()); // a second time
    CHECK(load(slurm, ref).state == state);
}

NodeUse use_of(Slurm &slurm, JobRef ref)
{
    auto uses = slurm.load_uses();
    REQUIRE(uses.has_value());
    auto use = std::ranges::find(*uses, ref, &NodeUse::job);
    REQUIRE(use != uses->end());
    return *use;
}

Partition partition_of(Slurm &slurm, const std::string &name)
{
    auto partitions = slurm.load_partitions();
    REQUIRE(partitions.has_value());
    auto one = std::ranges::find(*partitions, name, &Partition::name);
    REQUIRE(one != partitions->end());
    return *one;
}

// Of a job that waits.
void check_partitions(Slurm &slurm, const SlurmSetup &setup, JobRef ref)
{
    Partition own = partition_of(slurm, setup.partition);
    CHECK(own.up);
    CHECK_FALSE(own.restricted);
    CHECK(std::ranges::contains(own.nodes, setup.node));
    CHECK(partition_of(slurm, setup.higher).tier > own.tier);
    CHECK(use_of(slurm, ref).partitions == setup.partition);
    CHECK(use_of(slurm, ref).external);
    CHECK(use_of(slurm, ref).time_limit == 10);

    std::string both = setup.higher + "," + setup.partition;
    CHECK(slurm.set_partitions(ref, both, 20).has_value());

    CHECK(use_of(slurm, ref).partitions == both);
    CHECK(use_of(slurm, ref).time_limit == 20);
}

void check_cancel(Slurm &slurm, const SlurmSetup &setup)
{
    REQUIRE(slurm.drain(setup.node, "slurmk8sd: a test").has_value());
    JobRef ref = submit(slurm, setup, "cancel");
    Job job = load(slurm, ref);
    CHECK(job.state == JobState::pending);
    CHECK(job.nodes.empty());
    CHECK(job.tag.generation == 3);
    CHECK(slurm.set_priority(ref, highest_priority).has_value());
    CHECK(load(slurm, ref).priority == highest_priority);
    CHECK(slurm.set_priority(ref, 0).has_value());
    CHECK(load(slurm, ref).priority == 0);
    CHECK(code_of(slurm.set_priority(ref, highest_priority)) == Code::rejected);
    CHECK(load(slurm, ref).priority == 0);
    CHECK(slurm.set_priority(ref, computed_priority).has_value());
    CHECK(load(slurm, ref).priority != 0);
    CHECK(slurm.set_priority(ref, highest_priority).has_value());
    CHECK(load(slurm, ref).priority == highest_priority);
    if (!setup.higher.empty())
        check_partitions(slurm, setup, ref);

    REQUIRE(slurm.cancel(ref).has_value());

    CHECK(load(slurm, ref).state == JobState::cancelled);
    CHECK(slurm.cancel(ref).has_value()); // a second time
    CHECK(code_of(slurm.set_partitions(ref, setup.higher, 20)) ==
          Code::rejected);
    REQUIRE(slurm.resume(setup.node).has_value());
}

std::vector<JobDescription> two_components(const SlurmSetup &setup,
                                           const std::string &name)
{
    JobDescription large = description(setup, name);
    large.tag.components = 2;
    JobDescription small = large;
    large.cpus_per_task = 2;
    small.tasks = small.max_nodes = 2;
    small.memory_per_node = {};
    small.memory_per_cpu = MebiBytes{10};
    return {large, small};
}

std::optional<Job> find_job(Slurm &slurm, JobRef ref)
{
    auto all = slurm.load_all();
    REQUIRE(all.has_value());
    auto job = std::ranges::find(*all, ref, &Job::ref);
    return job == all->end() ? std::nullopt : std::optional(*job);
}

// Its components never share a node, of which there is one: so it waits.
void check_het(Slurm &slurm, const SlurmSetup &setup)
{
    auto ref = slurm.submit_het(two_components(setup, "het"));
    REQUIRE_MESSAGE(ref.has_value(), ref.error().message);
    Job job = load(slurm, *ref);
    CHECK(job.state == JobState::pending);
    CHECK(is_whole(job));
    CHECK(job.tasks == 3);
    REQUIRE(job.components.size() == 2);
    const Job &large = job.components[0], &small = job.components[1];
    CHECK(large.ref == *ref);
    CHECK(large.cpus_per_task == 2);
    CHECK(large.memory_per_node == MebiBytes{100});
    CHECK(small.ref.id != ref->id);
    CHECK(small.ref.sluid != ref->sluid);
    CHECK(small.tag == large.tag);
    CHECK(small.tasks == 2);
    CHECK(small.memory_per_cpu == MebiBytes{10});
    CHECK(load(slurm, small.ref).components.empty());

    auto listed = find_job(slurm, *ref);
    REQUIRE(listed);
    CHECK(refs_of(*listed) == refs_of(job));
    CHECK_FALSE(find_job(slurm, small.ref)); // it is in the other
    auto states = slurm.load_states();
    REQUIRE(states.has_value());
    CHECK(std::ranges::contains(*states, small.ref.id, &JobStateHint::id));

    auto batch = slurm.load_batch(*ref);
    REQUIRE_MESSAGE(batch.has_value(), batch.error().message);
    CHECK(refs_of(batch->job) == refs_of(job));
    CHECK(batch->job.tasks == 3);
    batch = slurm.load_batch(small.ref);
    REQUIRE_MESSAGE(batch.has_value(), batch.error().message);
    CHECK(batch->job.components.empty());
    CHECK(batch->job.tasks == 2);

    REQUIRE(slurm.cancel(*ref).has_value());
    CHECK(load(slurm, *ref).state == JobState::cancelled);
    CHECK(load(slurm, small.ref).state == JobState::cancelled);

    // What is left of one that was refused has been cancelled by nobody.
    auto refused = two_components(setup, "refused");
    refused[1].memory_per_cpu = MebiBytes{std::uint64_t{1} << 40};
    CHECK(code_of(slurm.submit_het(refused)) == Code::rejected);
    auto all = slurm.load_all();
    REQUIRE(all.has_value());
    for (const Job &left : *all)
        if (left.tag.uid == "uid-refused")
            CHECK(left.state == JobState::failed);
}

} // namespace

void slurm_contract(Slurm &slurm, const SlurmSetup &setup)
{
    check_nodes(slurm, setup);
    check_refusals(slurm, setup);
    check_cancel(slurm, setup);
    check_het(slurm, setup);
    check_end(slurm, setup, 0, JobState::completed);
    check_end(slurm, setup, 7 << 8, JobState::failed);
    check_end(slurm, setup, 9, JobState::failed);
    check_end(slurm, setup, 253, JobState::out_of_memory);
    CHECK(slurm.delete_node(setup.node).has_value());
}

} // namespace bridge
