// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/node_state.h"

#include <algorithm>
#include <array>
#include <utility>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

namespace {

using Word = std::pair<std::uint32_t, const char *>;

constexpr std::array bases = {
    Word{NODE_STATE_UNKNOWN, "Unknown"},
    Word{NODE_STATE_DOWN, "Down"},
    Word{NODE_STATE_IDLE, "Idle"},
    Word{NODE_STATE_ALLOCATED, "Allocated"},
    Word{NODE_STATE_ERROR, "Error"},
    Word{NODE_STATE_MIXED, "Mixed"},
    Word{NODE_STATE_FUTURE, "Future"},
};

constexpr std::array flags = {
    Word{NODE_STATE_COMPLETING, "Completing"},
    Word{NODE_STATE_DRAIN, "Drain"},
    Word{NODE_STATE_FAIL, "Fail"},
    Word{NODE_STATE_INVALID_REG, "InvalidReg"},
    Word{NODE_STATE_MAINT, "Maintenance"},
    Word{NODE_STATE_NO_RESPOND, "NotResponding"},
    Word{NODE_STATE_UNDRAIN, "Undrain"},
};

} // namespace

std::vector<std::string> node_state_words(std::uint32_t state)
{
    std::vector<std::string> words;
    for (const auto &[value, word] : bases)
        if ((state & NODE_STATE_BASE) == value)
            words.emplace_back(word);
    for (const auto &[flag, word] : flags)
        if (state & flag)
            words.emplace_back(word);
    return words;
}

bool has_jobs(std::uint32_t state)
{
    std::uint32_t base = state & NODE_STATE_BASE;
    return base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED ||
           (state & NODE_STATE_COMPLETING);
}

bool is_cloud(std::uint32_t state)
{
    return (state & NODE_STATE_CLOUD) != 0;
}

} // namespace bridge
