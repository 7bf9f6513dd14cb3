// SPDX-License-Identifier: GPL-2.0-or-later
// Limits how much one user may write to StateSaveLocation in ten minutes. A
// file is written before slurmctld has decided whether it accepts the job, even
// for sbatch --test-only, and may stay for that long. Files are counted, too:
// each costs an inode and a block, however small it is. May be used by several
// threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace bridge {

class SubmitBudget {
  public:
    using Time = std::chrono::steady_clock::time_point;

    static constexpr std::chrono::minutes window{10};
    static constexpr std::size_t bytes{256 << 20};
    static constexpr std::size_t block{4096}; // the least that a file costs
    static constexpr unsigned files{5000};

    // Takes one file of this size; false if this would exceed a limit.
    bool take(std::uint32_t user, std::size_t size, Time now);

  private:
    struct Use {
        Time since;
        std::size_t size = 0;
        unsigned files = 0;
    };

    std::mutex mutex_;
    std::map<std::uint32_t, Use> uses_; // of the current window
    Time cleaned_{};
};

} // namespace bridge
