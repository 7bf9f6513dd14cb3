// SPDX-License-Identifier: GPL-2.0-or-later
// Kubernetes quantities ("500m", "1Gi", "-0.1", "1e3") as the API server means
// them: exact to 10^-9, what is finer is rounded away from zero, and what is
// larger than 2^63-1 counts as that. Pure, and no floating point.
#pragma once

#include "common/base/result.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

__extension__ using WideInt = __int128;

// ±digits × 10^tens × 2^twos: what a quantity says before any rounding.
struct QuantityText {
    enum class Format { decimal, binary, exponent };

    bool negative = false;
    WideInt digits = 0; // below 10^30
    int tens = 0;
    int twos = 0;
    Format format = Format::decimal;
};

// Nothing for what the API server would refuse, and beyond 30 digits.
std::optional<QuantityText> read_quantity(std::string_view text);

class Quantity {
  public:
    using Format = QuantityText::Format;

    Quantity() = default;
    // Cut at ±(2^63-1) units.
    Quantity(WideInt nanos, Format format);

    // Code::rejected when it is none.
    static Result<Quantity> parse(std::string_view text);

    WideInt nanos() const { return nanos_; }
    Format format() const { return format_; }

    // As the API server writes it: "1024Ki" is "1Mi".
    std::string text() const;

    std::strong_ordering operator<=>(const Quantity &other) const
    {
        return nanos_ <=> other.nanos_;
    }
    bool operator==(const Quantity &other) const
    {
        return nanos_ == other.nanos_;
    }

  private:
    WideInt nanos_ = 0;
    Format format_ = Format::decimal;
};

} // namespace bridge
