// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/partition_limits.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

char *text_of(const char *text)
{
    return const_cast<char *>(text); // Slurm's structures have no const
}

} // namespace

TEST_CASE("a node offers what Slurm gives to jobs")
{
    node_info_t node{};
    node.cpus = 18;
    node.cpus_efctv = 16;
    node.real_memory = 33000;
    node.mem_spec_limit = 1000;
    node.gres = text_of("gpu:2");

    CHECK(size_of(node) == SlurmdSize{16, 32000, "", "gpu:2"});
    node.cpus_efctv = 0; // not told
    node.mem_spec_limit = 40000;
    CHECK(size_of(node) == SlurmdSize{18, 0, "", "gpu:2"});
}

TEST_CASE("a partition's limits are read, names in lower case")
{
    partition_info_t info{};
    info.state_up = PARTITION_UP;
    info.max_time = 60;
    info.allow_accounts = text_of("Physics,,biology");
    info.deny_qos = text_of("High");
    info.max_mem_per_cpu = 1000 | MEM_PER_CPU;
    info.qos_char = text_of("Cloud");

    PartitionLimits limits = limits_of(info, {"cloud"});

    CHECK(limits.up);
    CHECK(limits.max_time == 60);
    CHECK(limits.allow_accounts ==
          std::vector<std::string>{"physics", "biology"});
    CHECK(limits.deny_qos == std::vector<std::string>{"high"});
    CHECK(limits.allow_groups.empty());
    CHECK(limits.max_memory == (1000 | MEM_PER_CPU));
    CHECK(limits.qos_refuses);
    CHECK_FALSE(limits_of(info, {"normal"}).qos_refuses);
}

TEST_CASE("a partition that does not take or start jobs is not up")
{
    partition_info_t info{};
    info.allow_groups = text_of("staff,,Guests");
    for (auto state : {PARTITION_DOWN, PARTITION_DRAIN, PARTITION_INACTIVE}) {
        info.state_up = static_cast<std::uint16_t>(state);
        CHECK_FALSE(limits_of(info, {}).up);
    }
    CHECK(limits_of(info, {}).allow_groups ==
          std::vector<std::string>{"staff", "Guests"});
    CHECK(limits_of(info, {}).max_memory == 0);
    info.max_mem_per_cpu = INFINITE64;
    CHECK(limits_of(info, {}).max_memory == 0);
}
