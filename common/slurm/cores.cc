// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/cores.h"

#include "common/slurm/strings.h"

extern "C" {
#include <slurm/slurm_version.h>

// Exported by libslurm under these names, and missing in slurm.h.
int slurm_bit_test(bitstr_t *bits, bitoff_t bit);
bitoff_t slurm_bit_size(bitstr_t *bits);
}

namespace bridge {

namespace {

// A copy of the struct in src/common/job_resources.h of Slurm 26.05. That of
// 25.11 is different.
struct JobResources {
    bitstr_t *core_bitmap;
    bitstr_t *core_bitmap_used;
    std::uint32_t cpu_array_cnt;
    std::uint16_t *cpu_array_value;
    std::uint32_t *cpu_array_reps;
    std::uint16_t *cpus;
    std::uint16_t *cpus_used;
    std::uint16_t *cores_per_socket;
    std::uint16_t cr_type;
    std::uint64_t *memory_allocated;
    std::uint64_t *memory_used;
    std::uint32_t next_step_node_inx;
    std::uint32_t nhosts;
    bitstr_t *node_bitmap;
    std::uint32_t *node_ranks;
    std::uint32_t node_req;
    char *nodes;
    std::uint32_t ncpus;
    std::uint32_t *sock_core_rep_count;
    std::uint16_t *sockets_per_node;
};

constexpr bool is_known_version =
    SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER) == 26 &&
    SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER) == 5;

constexpr std::int64_t most_cores = 65535; // of one node

// Reads the cores of one node after the other, socket by socket. The numbers of
// sockets and cores are stored once for consecutive nodes that are alike.
class Cores {
  public:
    explicit Cores(const JobResources &has) : has_(has)
    {
        size_ = slurm_bit_size(has.core_bitmap);
    }

    // Reads the next node. Returns false if there are not enough cores.
    bool read(std::vector<std::uint32_t> &into)
    {
        if (alike_ >= has_.sock_core_rep_count[kind_]) {
            kind_++;
            alike_ = 0;
        }
        alike_++;
        std::int64_t count = std::int64_t{has_.sockets_per_node[kind_]} *
                             has_.cores_per_socket[kind_];
        if (count > most_cores || first_ + count > size_)
            return false;
        for (std::int64_t i = 0; i < count; i++)
            if (slurm_bit_test(has_.core_bitmap, first_ + i))
                into.push_back(static_cast<std::uint32_t>(i));
        first_ += count;
        return true;
    }

  private:
    const JobResources &has_;
    std::int64_t size_ = 0;
    std::int64_t first_ = 0; // of the next node
    std::size_t kind_ = 0;
    std::uint32_t alike_ = 0;
};

} // namespace

std::vector<std::vector<std::uint32_t>>
cores_on_nodes(const slurm_job_info_t &info,
               const std::vector<std::string> &nodes)
{
    if (!is_known_version || !info.job_resrcs || nodes.empty())
        return {};
    const auto &has = *reinterpret_cast<const JobResources *>(info.job_resrcs);
    if (has.nhosts != nodes.size() || !has.core_bitmap ||
        !has.sock_core_rep_count || !has.sockets_per_node ||
        !has.cores_per_socket || expand(has.nodes) != nodes)
        return {};
    Cores cores(has);
    std::vector<std::vector<std::uint32_t>> on(nodes.size());
    for (std::vector<std::uint32_t> &node : on)
        if (!cores.read(node))
            return {};
    return on;
}

} // namespace bridge
