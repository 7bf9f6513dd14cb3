// SPDX-License-Identifier: GPL-2.0-or-later
// What the operator counts, for /metrics. May be used by every thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace bridge::slinky {

class Metrics {
  public:
    // name has its labels: "steps_total{verb=\"create\"}".
    void count(const std::string &name);
    void set(const std::string &name, std::uint64_t value);

    // The text format of Prometheus; each name gets our prefix.
    std::string text() const;

  private:
    mutable std::mutex mutex_;
    std::map<std::string, std::uint64_t> values_;
};

} // namespace bridge::slinky
