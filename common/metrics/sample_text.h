// SPDX-License-Identifier: GPL-2.0-or-later
// Reads metrics in Prometheus' text format, version 0.0.4, as MetricText writes
// them. Pure. The text may come from anybody: whatever it is, it becomes
// samples or an error.
#pragma once

#include "common/base/result.h"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

struct Sample {
    std::string name;
    // In the order of the text; values are without escapes, and any bytes.
    std::vector<std::pair<std::string, std::string>> labels;
    double value = 0; // may be infinite, or no number

    // Returns "" without such a label.
    std::string_view label(std::string_view label_name) const;
};

class Samples {
  public:
    // Comments and times of samples are left out. Code::rejected, with the
    // number of the line, for what is not of the format, and for more than a
    // million samples.
    static Result<Samples> parse(std::string_view text);

    // Returns all samples of that name, in the order of the text.
    std::span<const Sample> named(std::string_view name) const;
    // Returns the value of the first of them; nothing if there is none.
    std::optional<double> value(std::string_view name) const;
    // Returns the sum over those of them that have this label, 0 for none.
    double
    sum(std::string_view name,
        std::initializer_list<std::pair<std::string_view, std::string_view>>
            labels = {}) const;

    std::size_t size() const { return samples_.size(); }

  private:
    std::vector<Sample> samples_; // by name
};

} // namespace bridge
