// SPDX-License-Identifier: GPL-2.0-or-later
// Heterogeneous jobs of sbatch: which components may be Pods, what each Pod is
// made of, and what the script knows of the components.
#include "agent/batch/het.h"
#include "agent/gang/batch_place.h"
#include "common/contract/batch_het.h"
#include "common/slurm/het_job.h"
#include "plugins/job_submit/batch_component.h"
#include "plugins/job_submit/batch_refusal.h"

#include "tests/unit/fakes/fake_slurm.h"
#include "tests/unit/fakes/make.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;

namespace {

const std::string file_name = "0123456789abcdef0123456789abcdef";

BatchJob component(JobId id, std::vector<std::string> nodes,
                   std::vector<std::uint32_t> cpus_on)
{
    BatchJob batch;
    batch.job = make_job(id, JobState::configuring);
    batch.job.tag = {};
    batch.job.cpus = 0;
    batch.job.nodes = std::move(nodes);
    batch.job.cpus_on = std::move(cpus_on);
    for (std::uint32_t cpus : batch.job.cpus_on)
        batch.job.cpus += cpus;
    if (batch.job.nodes.size() == 1)
        batch.job.cpus_on.clear(); // as Slurm has it
    batch.name = "job.sh";
    batch.partition = "kwok";
    batch.hostlist = batch.job.nodes.front();
    return batch;
}

// One node with 4 CPUs, and two with 2 CPUs and a GPU each.
std::vector<BatchJob> components()
{
    std::vector<BatchJob> all{component(10, {"kn1"}, {4}),
                              component(11, {"kn2", "kn3"}, {2, 2})};
    all[0].job.memory_per_cpu = MebiBytes{100};
    all[1].job.memory_per_node = MebiBytes{300};
    all[1].asks_gres = true;
    all[1].job.devices = true;
    all[1].job.gres_on = {{{"gpu", "", 1, {3}}}, {{"gpu", "", 1, {0}}}};
    all[1].hostlist = "kn[2-3]";
    for (BatchJob &one : all) {
        one.job.tag.script = file_name;
        one.job.tag.components = some_components;
    }
    return all;
}

Job het_job()
{
    std::vector<JobRecord> records;
    for (const BatchJob &one : components())
        records.push_back(
            {one.job, 10, static_cast<std::uint32_t>(records.size())});
    JobRef leader = records.front().job.ref;
    return join_components(leader, std::move(records));
}

using Desc = job_desc_msg_t;

Desc desc_of(std::uint32_t offset)
{
    Desc desc{};
    desc.user_id = desc.group_id = 1001;
    desc.het_job_offset = offset;
    desc.min_nodes = desc.max_nodes = NO_VAL;
    desc.requeue = NO_VAL16;
    desc.kill_on_node_fail = NO_VAL16;
    return desc;
}

HetLeader leader()
{
    return {1001, file_name, BatchWish{"busybox"}, {"busybox"}, 1, 1};
}

Conf conf()
{
    Conf conf;
    conf.batch_namespace = "slurm-jobs";
    conf.max_gang_size = 4;
    return conf;
}

} // namespace

TEST_CASE("the tag of a heterogeneous batch job says that it is one")
{
    auto tag = decode_gang_tag(batch_het_tag(file_name));

    REQUIRE(tag);
    CHECK(tag->script == file_name);
    CHECK(tag->components == some_components);
    CHECK(tag->uid.empty());
    CHECK_FALSE(decode_gang_tag(batch_het_tag("../x")));
}

TEST_CASE("components of a batch job are one job, also before it has Pods")
{
    Job job = het_job();

    CHECK(job.ref.id == 10);
    CHECK(is_whole(job));
    CHECK(job.nodes == std::vector<std::string>{"kn1", "kn2", "kn3"});
    CHECK(job.cpus_on == std::vector<std::uint32_t>{4, 2, 2});
    REQUIRE(job.gres_on.size() == 3); // none on the first
    CHECK(job.gres_on[0].empty());
    CHECK(job.gres_on[2].front().indexes == std::vector<std::uint32_t>{0});
    // Written on the leader last, and taken off it first.
    auto records = std::vector<JobRecord>{{components()[0].job, 10, 0},
                                          {components()[1].job, 10, 1}};
    records[1].job.tag.uid = "uid";
    CHECK(join_components(job.ref, std::move(records)).tag.uid.empty());
    JobRecord rest{job.components.front(), 0, 0};
    auto alone = join_components({rest});
    REQUIRE(alone.size() == 1);
    CHECK_FALSE(is_whole(alone.front()));
}

TEST_CASE("a Pod of a component has what that has on its node")
{
    auto all = components();

    CHECK(on_node_of(all, 0).job.cpus == 4);
    CHECK(on_node_of(all, 0).job.memory_per_cpu == MebiBytes{100});
    CHECK(on_node_of(all, 0).job.ref.id == 10);
    for (std::uint32_t rank : {1u, 2u}) {
        BatchJob there = on_node_of(all, rank);
        CHECK(there.job.cpus == 2);
        CHECK(there.job.memory_per_node == MebiBytes{300});
        REQUIRE(there.job.gres_on.size() == 1);
        CHECK(there.job.gres_on[0][0].indexes.front() == (rank == 1 ? 3 : 0));
    }
    BatchJob whole = all.front();
    whole.job = het_job();
    CHECK(place_on(whole, 2, "uid").node == "kn3");
    CHECK(place_on(whole, 0).count == 3);
}

TEST_CASE("the script knows each component")
{
    auto all = het_variables(components());
    for (const char *entry : {"SLURM_HET_SIZE=2", "SLURM_JOB_ID_HET_GROUP_1=11",
                              "SLURM_JOB_NODELIST_HET_GROUP_0=kn1",
                              "SLURM_JOB_NODELIST_HET_GROUP_1=kn[2-3]",
                              "SLURM_JOB_NUM_NODES_HET_GROUP_1=2",
                              "SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1=2(x2)",
                              "SLURM_MEM_PER_CPU_HET_GROUP_0=100",
                              "SLURM_MEM_PER_NODE_HET_GROUP_1=300",
                              "SLURM_JOB_NODELIST_PACK_GROUP_1=kn[2-3]"}) {
        CAPTURE(entry);
        CHECK(std::ranges::contains(all, entry));
    }
    CHECK(het_variables({components().front()}).empty());
}

TEST_CASE("components are read one by one, and anew when slurmctld moves them")
{
    FakeSlurm slurm;
    for (const char *node : {"kn1", "kn2"})
        slurm.add_node(node);
    JobDescription one;
    one.features = "k8s";
    one.memory_per_node = MebiBytes{100};
    one.tag.script = file_name;
    one.tag.components = some_components;
    JobRef leader = slurm.submit_het({one, one}).value();
    slurm.backfill();

    auto batch = slurm.load_batch(leader);
    REQUIRE(batch.has_value());
    CHECK(batch->job.nodes.size() == 2);
    auto all = load_components(*batch, slurm);
    REQUIRE(all.has_value());
    REQUIRE(all->size() == 2);
    CHECK(all->front().job.ref == leader);
    CHECK(all->front().job.components.empty());
    CHECK(all->back().job.ref.id == leader.id + 1);

    batch->job.components.back().nodes = {"kn7"};
    CHECK(load_components(*batch, slurm).error().code == Code::busy);
    slurm.scancel(leader.id);
    batch->job.components.back().nodes = all->back().job.nodes;
    CHECK_FALSE(load_components(*batch, slurm).has_value());
}

TEST_CASE("a component needs no script, and is else refused like any batch job")
{
    Desc desc = desc_of(1);
    CHECK_FALSE(component_refusal_reason(desc, std::nullopt, leader(), conf()));
    CHECK_FALSE(
        component_refusal_reason(desc, BatchWish{"busybox"}, leader(), conf()));
    CHECK_FALSE(batch_refusal_reason(desc, {"busybox"}, conf(), 64030));

    desc.kill_on_node_fail = 0;
    CHECK(batch_refusal_reason(desc, {"busybox"}, conf(), 64030)
              ->contains("--no-kill"));
    desc.kill_on_node_fail = NO_VAL16;
    desc.requeue = 1;
    CHECK(batch_refusal_reason(desc, {"busybox"}, conf(), 64030)
              ->contains("--requeue"));
}

TEST_CASE("what a component cannot have is refused in words")
{
    struct {
        const char *word;
        void (*change)(Desc &desc, std::optional<BatchWish> &said,
                       std::optional<HetLeader> &leader);
    } rows[] = {
        {"all components",
         [](Desc &, auto &, auto &leader) { leader.reset(); }},
        {"first", [](Desc &, auto &said, auto &) { said = {"other"}; }},
        {"first", [](Desc &, auto &, auto &leader) { leader->said.reset(); }},
        {"MaxGangSize", [](Desc &desc, auto &, auto &) { desc.min_nodes = 4; }},
        {"out of order", [](Desc &desc, auto &, auto &) { desc.user_id = 7; }},
        {"out of order",
         [](Desc &desc, auto &, auto &) { desc.het_job_offset = 2; }},
    };
    for (auto [word, change] : rows) {
        CAPTURE(word);
        Desc desc = desc_of(1);
        std::optional<BatchWish> said = BatchWish{"busybox"};
        std::optional<HetLeader> first = leader();
        change(desc, said, first);

        auto reason = component_refusal_reason(desc, said, first, conf());

        REQUIRE(reason);
        CHECK(reason->contains(word));
    }
}
