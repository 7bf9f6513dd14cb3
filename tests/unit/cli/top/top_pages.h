// SPDX-License-Identifier: GPL-2.0-or-later
// Pages of metrics as the agent writes them, for tests of slurmk8s top.
#pragma once

#include "cli/top/top_view.h"
#include "common/metrics/metric_text.h"

#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <format>
#include <string>
#include <utility>

namespace bridge {

inline constexpr std::chrono::sys_seconds top_now{
    std::chrono::seconds(1'700'000'000)};
inline constexpr std::uint64_t top_taken = 1'699'999'990;

inline Samples parsed(MetricText text)
{
    auto samples = Samples::parse(std::move(text).finish());
    REQUIRE(samples);
    return std::move(*samples);
}

// A small cluster: 6 nodes, of which one is drained and one is down.
inline MetricText small_page()
{
    MetricText text(MetricFormat::prometheus);
    text.gauge("slurmk8sd_problems", "x", 0);
    text.gauge("slurm_up", "x", 1);
    text.gauge("slurm_census_timestamp_seconds", "x", top_taken);
    for (auto [name, count] : {std::pair{"", 6},
                               {"_alloc", 1},
                               {"_mixed", 1},
                               {"_idle", 3},
                               {"_drained", 1},
                               {"_down", 1},
                               {"_noresp", 1},
                               {"_maint", 0}})
        text.gauge(std::string("slurm_nodes") + name, "x", count);
    text.gauge("slurm_cpus", "x", 320000);
    text.gauge("slurm_cpus_alloc", "x", 311040);
    text.gauge("slurm_memory_bytes", "x", std::uint64_t{3} << 40);
    text.gauge("slurm_memory_alloc_bytes", "x", std::uint64_t{3} << 39);
    text.gauge("slurm_gres", "x");
    text.add(std::uint64_t{40}, {{"gres", "gpu"}, {"type", "a100"}});
    text.add(std::uint64_t{2}, {{"gres", "nic"}, {"type", ""}});
    text.gauge("slurm_gres_alloc", "x");
    text.add(std::uint64_t{12}, {{"gres", "gpu"}, {"type", "a100"}});
    text.gauge("slurm_jobs_running", "x", 12);
    text.gauge("slurm_jobs_pending", "x", 5);
    text.gauge("slurm_jobs_hold", "x", 1);
    text.gauge("slurm_jobs_pending_reason", "x");
    text.add(std::uint64_t{1}, {{"reason", "JobHeldUser"}});
    text.add(std::uint64_t{4}, {{"reason", "Priority"}});
    text.gauge("slurmk8s_jobs", "x");
    text.add(std::uint64_t{9}, {{"kind", "native"}, {"state", "running"}});
    text.add(std::uint64_t{3}, {{"kind", "pod"}, {"state", "running"}});
    text.add(std::uint64_t{5}, {{"kind", "pod"}, {"state", "pending"}});
    return text;
}

inline MetricText small_detail()
{
    MetricText text(MetricFormat::prometheus);
    text.gauge("slurm_node_reason_info", "x");
    text.add(std::uint64_t{1},
             {{"node", "n1"}, {"reason", "fan fails"}, {"user", "root"}});
    text.add(std::uint64_t{1}, {{"node", "n2"},
                                {"reason", "\x1b]0;x\x07\nL\u00fcfter\xff"},
                                {"user", "ops"}});
    text.add(std::uint64_t{1}, {{"node", "n3"}});
    text.gauge("slurm_node_reason_since_timestamp_seconds", "x");
    text.add(std::uint64_t{1'699'990'000}, {{"node", "n1"}});
    text.add(std::uint64_t{1'699'999'950}, {{"node", "n2"}});
    return text;
}

inline TopPages small_pages()
{
    return {parsed(small_page()), parsed(small_detail()), {}};
}

// 5,000 nodes, of which 1,000 have a reason, and 200 partitions.
inline TopPages large_pages()
{
    MetricText text = small_page();
    for (auto [name, factor] : {std::pair{"nodes", 1},
                                {"cpus", 64},
                                {"cpus_alloc", 60},
                                {"jobs_running", 2},
                                {"jobs_pending", 3}}) {
        text.gauge(std::string("slurm_partition_") + name, "x");
        for (int i = 0; i < 200; i++)
            text.add(static_cast<std::uint64_t>(i * factor),
                     {{"partition", std::format("part{:03}", i)}});
    }
    MetricText detail(MetricFormat::prometheus);
    detail.gauge("slurm_node_cpus", "x");
    for (int i = 0; i < 5000; i++)
        detail.add(std::uint64_t{64}, {{"node", std::format("node{:04}", i)}});
    detail.gauge("slurm_node_reason_info", "x");
    for (int i = 0; i < 1000; i++)
        detail.add(std::uint64_t{1}, {{"node", std::format("node{:04}", i)},
                                      {"reason", "it has lost its fabric"},
                                      {"user", "root"}});
    detail.gauge("slurm_node_reason_since_timestamp_seconds", "x");
    for (int i = 0; i < 1000; i++)
        detail.add(static_cast<std::uint64_t>(1'699'000'000 + i),
                   {{"node", std::format("node{:04}", i)}});
    return {parsed(std::move(text)), parsed(std::move(detail)), {}};
}

} // namespace bridge
