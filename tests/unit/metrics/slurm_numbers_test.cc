// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/metrics/slurm_numbers.h"
#include "tests/unit/metrics/counted.h"

#include <cstdint>
#include <doctest/doctest.h>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace bridge;

namespace {

std::string text_of(const SlurmNumbers &numbers)
{
    MetricText text(MetricFormat::open_metrics);
    numbers.write(text);
    return std::move(text).finish();
}

void add(SlurmNumbers &numbers, const CountedJob &job)
{
    numbers.add(job, use_of(job));
}

void check_lines(const std::string &text,
                 std::initializer_list<const char *> lines)
{
    for (const char *line : lines) {
        CAPTURE(line);
        CHECK(text.contains("\n" + std::string(line) + "\n"));
    }
}

} // namespace

TEST_CASE("320,000 CPUs are 320,000, and bytes are bytes")
{
    SlurmNumbers numbers;
    std::vector<CountedNode> nodes;
    CountedPartition all{"main", {}};
    for (int i = 0; i < 5000; i++) {
        nodes.push_back(
            counted_node("n" + std::to_string(i), NODE_STATE_ALLOCATED));
        nodes.back().allocated_cpus = 64;
        nodes.back().allocated_memory = MebiBytes{256000};
        all.nodes.push_back(nodes.back().name);
    }
    numbers.set_nodes(std::move(nodes));
    numbers.set_partitions({all});
    CountedJob job = running_job(7, 1);
    job.cpus = 320000;
    job.nodes = 5000;
    job.tres = "cpu=320000,mem=1250000G,node=5000";
    add(numbers, job);

    check_lines(
        text_of(numbers),
        {"slurm_nodes 5000", "slurm_nodes_alloc 5000", "slurm_nodes_idle 0",
         "slurm_cpus 320000", "slurm_cpus_alloc 320000",
         "slurm_memory_bytes 1342177280000000",
         "slurm_memory_alloc_bytes 1342177280000000",
         "slurm_partition_cpus_alloc{partition=\"main\"} 320000",
         "slurm_partition_memory_bytes{partition=\"main\"} 1342177280000000",
         "slurm_jobs_cpus_alloc 320000", "slurm_jobs_nodes_alloc 5000",
         "slurm_jobs_memory_alloc_bytes 1342177280000000",
         "slurm_partition_jobs_cpus_alloc{partition=\"main\"} 320000"});
}

TEST_CASE("a node counts in each of its states, and in each of its partitions")
{
    SlurmNumbers numbers;
    numbers.set_nodes(
        {counted_node("a", NODE_STATE_MIXED | NODE_STATE_DRAIN),
         counted_node("b", NODE_STATE_IDLE | NODE_STATE_DRAIN),
         counted_node("c", NODE_STATE_DOWN | NODE_STATE_EXTERNAL),
         counted_node("d", NODE_STATE_IDLE | NODE_STATE_POWERING_DOWN)});
    numbers.set_partitions({{"p", {"a", "b", "unknown"}}, {"q", {"b", "c"}}});

    check_lines(text_of(numbers),
                {"slurm_nodes_drain 2", "slurm_nodes_draining 1",
                 "slurm_nodes_drained 1", "slurm_nodes_mixed 1",
                 "slurm_nodes_down 1", "slurm_nodes_external 1",
                 "slurm_nodes_powering_down 1", "slurm_nodes_powering_up 0",
                 "slurm_partition_nodes{partition=\"p\"} 2",
                 "slurm_partition_nodes{partition=\"q\"} 2",
                 "slurm_partition_nodes_drained{partition=\"p\"} 1",
                 "slurm_partition_nodes_drained{partition=\"q\"} 1",
                 "slurm_partition_jobs{partition=\"q\"} 0"});
}

TEST_CASE("GRES are counted by type, and what has none apart from that")
{
    SlurmNumbers numbers;
    CountedNode node = counted_node("a");
    node.gres = "gpu:a100:4(S:0-1),gpu:h100:2,nic:3";
    node.gres_used = "gpu:a100:3(IDX:0-2),gpu:h100:0(IDX:N/A),nic:(null):1";
    numbers.set_nodes({node});
    add(numbers, running_job(1, 1));

    std::string text = text_of(numbers);
    check_lines(text, {"slurm_gres{gres=\"gpu\",type=\"a100\"} 4",
                       "slurm_gres{gres=\"gpu\",type=\"h100\"} 2",
                       "slurm_gres{gres=\"nic\",type=\"\"} 3",
                       "slurm_gres_alloc{gres=\"gpu\",type=\"a100\"} 3",
                       "slurm_gres_alloc{gres=\"nic\",type=\"\"} 1",
                       "slurm_jobs_gres_alloc{gres=\"gpu\",type=\"a100\"} 2"});
    CHECK_FALSE(text.contains("slurm_gres{gres=\"gpu\",type=\"\"}"));
}

TEST_CASE("GRES whose types are more than their name says, or are all that is "
          "said, leave none without a type")
{
    SlurmNumbers numbers;
    CountedJob both = running_job(1, 1);
    both.tres = "cpu=1,gres/gpu=1,gres/gpu:a100=2,gres/gpu:h100=1";
    CountedJob typed = running_job(2, 1);
    typed.tres = "cpu=1,gres/nic:fast=2";
    CountedJob rest = running_job(3, 1);
    rest.tres = "gres/gpu:a100=1,gres/gpu=5";
    add(numbers, both);
    add(numbers, typed);
    add(numbers, rest);

    std::string text = text_of(numbers);
    check_lines(text, {"slurm_jobs_gres_alloc{gres=\"gpu\",type=\"\"} 4",
                       "slurm_jobs_gres_alloc{gres=\"gpu\",type=\"a100\"} 3",
                       "slurm_jobs_gres_alloc{gres=\"gpu\",type=\"h100\"} 1",
                       "slurm_jobs_gres_alloc{gres=\"nic\",type=\"fast\"} 2"});
    CHECK_FALSE(text.contains("slurm_jobs_gres_alloc{gres=\"nic\",type=\"\"}"));
}

TEST_CASE("pending jobs are counted by reason, in each partition in which they "
          "may start; a job array by its tasks")
{
    SlurmNumbers numbers;
    numbers.set_partitions({{"p", {}}, {"q", {}}});
    CountedJob both = pending_job(1, "Resources");
    both.partition = "p,q";
    CountedJob array = pending_job(2, "JobHeldUser");
    array.partition = "p";
    array.tasks = 10;
    array.held = true;
    add(numbers, both);
    add(numbers, array);

    check_lines(text_of(numbers),
                {"slurm_jobs 11", "slurm_jobs_pending 11", "slurm_jobs_hold 10",
                 "slurm_jobs_pending_reason{reason=\"Resources\"} 1",
                 "slurm_jobs_pending_reason{reason=\"JobHeldUser\"} 10",
                 "slurm_partition_jobs_pending{partition=\"p\"} 11",
                 "slurm_partition_jobs_pending{partition=\"q\"} 1",
                 "slurm_partition_jobs_pending_reason{partition=\"q\",reason="
                 "\"Resources\"} 1"});

    numbers.forget_jobs();
    check_lines(text_of(numbers),
                {"slurm_jobs 0", "slurm_partition_jobs{partition=\"p\"} 0"});
}

TEST_CASE(
    "jobs of Pods, jobs that run as Pods, shadow jobs and others are told "
    "apart")
{
    SlurmNumbers numbers;
    CountedJob pod = running_job(1, 1);
    pod.kind = JobKind::pod;
    CountedJob batch = pending_job(2);
    batch.kind = JobKind::batch;
    add(numbers, pod);
    add(numbers, batch);
    CountedJob shadow = running_job(4, 1);
    shadow.kind = JobKind::shadow;
    add(numbers, running_job(3, 1));
    add(numbers, shadow);
    check_lines(text_of(numbers),
                {"slurm_jobs_running 3", "slurm_jobs_cpus_alloc 12",
                 "slurmk8s_jobs{kind=\"shadow\",state=\"running\"} 1",
                 "slurmk8s_jobs{kind=\"pod\",state=\"running\"} 1",
                 "slurmk8s_jobs{kind=\"batch\",state=\"pending\"} 1",
                 "slurmk8s_jobs{kind=\"native\",state=\"running\"} 1"});
}

TEST_CASE("each node has its numbers, and why it is drained, by whom, since "
          "when")
{
    SlurmNumbers numbers;
    CountedNode node = counted_node("a", NODE_STATE_IDLE | NODE_STATE_DRAIN);
    node.reason = "a \"fan\" fails";
    node.reason_since = at(1700000000);
    node.reason_user = 1001;
    node.free_memory = MebiBytes{1};
    CountedNode other = counted_node("b");
    other.reason = "x";
    other.reason_user = 5;
    numbers.set_nodes({node, other, counted_node("c")});
    MetricText text(MetricFormat::prometheus);
    const std::map<std::uint32_t, std::string> users{{1001, "alice"}};
    numbers.write_nodes(text);
    numbers.write_reasons(text, &users);
    std::string said = std::move(text).finish();
    check_lines(said,
                {"slurm_node_cpus{node=\"a\"} 64",
                 "slurm_node_memory_bytes{node=\"c\"} 268435456000",
                 "slurm_node_memory_free_bytes{node=\"a\"} 1048576",
                 "slurm_node_reason_info{node=\"a\",reason=\"a \\\"fan\\\" "
                 "fails\",user=\"alice\"} 1",
                 "slurm_node_reason_info{node=\"b\",reason=\"x\",user=\"5\"} 1",
                 "slurm_node_reason_since_timestamp_seconds{node=\"a\"} "
                 "1700000000"});
    CHECK_FALSE(said.contains("slurm_node_memory_free_bytes{node=\"c\"}"));
    CHECK_FALSE(said.contains("slurm_node_reason_info{node=\"c\""));
}

TEST_CASE("where users are private, only the node is said of a reason")
{
    SlurmNumbers numbers;
    CountedNode node = counted_node("a", NODE_STATE_IDLE | NODE_STATE_DRAIN);
    node.reason = "fan";
    node.reason_user = 1001;
    numbers.set_nodes({node});
    MetricText text(MetricFormat::prometheus);
    numbers.write_reasons(text, nullptr);
    std::string said = std::move(text).finish();
    check_lines(said, {"slurm_node_reason_info{node=\"a\"} 1"});
    CHECK_FALSE(said.contains("fan"));
    CHECK_FALSE(said.contains("1001"));
}

TEST_CASE("FUTURE nodes, which slurmctld does not show, have no family")
{
    CHECK_FALSE(text_of(SlurmNumbers()).contains("slurm_nodes_future"));
    CHECK(text_of(SlurmNumbers()).contains("slurm_nodes_dyn_future"));
}
