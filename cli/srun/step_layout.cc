// SPDX-License-Identifier: GPL-2.0-or-later
// Follows _task_layout_block() and related functions in Slurm's
// slurm_step_layout.c.
#include "cli/srun/step_plan.h"

namespace bridge {

namespace {

using Numbers = std::vector<std::uint32_t>;

// Deals one task to each node in turn. The counts are valid for block
// distribution, too.
Numbers dealt_round(std::uint32_t tasks, const Numbers &slots)
{
    Numbers counts(slots.size());
    bool all_full = false;
    for (std::uint32_t round = 0, dealt = 0; dealt < tasks; round++) {
        bool room = false;
        for (std::size_t i = 0; i < slots.size() && dealt < tasks; i++)
            if (round < slots[i] || all_full) {
                counts[i]++;
                dealt++;
                room = room || round + 1 < slots[i];
            }
        all_full = all_full || !room;
    }
    return counts;
}

Numbers dealt_in_planes(std::uint32_t tasks, const Numbers &slots,
                        std::uint32_t plane)
{
    Numbers counts(slots.size());
    std::uint32_t dealt = 0;
    for (std::size_t i = 0; i < slots.size() && dealt < tasks; i++, dealt++)
        counts[i]++;
    bool all_full = false;
    for (std::uint32_t round = 0; dealt < tasks; round++) {
        bool room = false;
        for (std::size_t i = 0; i < slots.size(); i++)
            for (std::uint32_t k = round == 0; k < plane && dealt < tasks; k++)
                if (counts[i] < slots[i] || all_full) {
                    counts[i]++;
                    dealt++;
                    room = room || counts[i] < slots[i];
                }
        all_full = all_full || !room;
    }
    return counts;
}

} // namespace

std::vector<Numbers> lay_out_tasks(std::uint32_t tasks, const Numbers &slots,
                                   TaskOrder order, std::uint32_t plane)
{
    std::vector<Numbers> layout(slots.size());
    if (slots.empty())
        return layout;
    Numbers counts = order == TaskOrder::plane
                         ? dealt_in_planes(tasks, slots, plane)
                         : dealt_round(tasks, slots);
    // How many consecutive numbers a node gets before the next node's turn.
    std::uint32_t run = order == TaskOrder::block   ? tasks
                        : order == TaskOrder::plane ? plane
                                                    : 1;
    for (std::uint32_t number = 0; number < tasks;)
        for (std::size_t i = 0; i < slots.size(); i++)
            for (std::uint32_t k = 0; k < run && layout[i].size() < counts[i];
                 k++)
                layout[i].push_back(number++);
    return layout;
}

} // namespace bridge
