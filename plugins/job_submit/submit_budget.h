// SPDX-License-Identifier: GPL-2.0-or-later
// How much one user may have written to StateSaveLocation within ten minutes: a
// file is written before slurmctld knows whether it takes the job, also for
// sbatch --test-only, and stays so long. Safe from several threads.
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

    // False: that would be too much.
    bool take(std::uint32_t user, std::size_t size, Time now);

  private:
    struct Use {
        Time since;
        std::size_t size = 0;
    };

    std::mutex mutex_;
    std::map<std::uint32_t, Use> uses_; // of the last window
    Time cleaned_{};
};

} // namespace bridge
