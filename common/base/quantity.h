// SPDX-License-Identifier: GPL-2.0-or-later
// Kubernetes quantities ("500m", "1Gi", "-0.1", "1e3"), read as the API server
// reads them: exact to 10^-9, finer amounts are rounded away from zero, and
// larger ones are cut at 2^63-1. Pure; no floating point.
#pragma once

#include "common/base/result.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

__extension__ using WideInt = __int128;

// The number in a quantity before any rounding: ±digits × 10^tens × 2^twos.
struct QuantityText {
    enum class Format { decimal, binary, exponent };

    bool negative = false;
    WideInt digits = 0; // less than 10^30
    int tens = 0;
    int twos = 0;
    Format format = Format::decimal;
};

// Returns nothing if the API server would refuse the text, or if it has more
// than 30 digits.
std::optional<QuantityText> read_quantity(std::string_view text);

class Quantity {
  public:
    using Format = QuantityText::Format;

    Quantity() = default;
    // The amount is cut at ±(2^63-1) units.
    Quantity(WideInt nanos, Format format);

    // Code::rejected if text is not a quantity.
    static Result<Quantity> parse(std::string_view text);

    WideInt nanos() const { return nanos_; }
    Format format() const { return format_; }

    // Returns the canonical form, as the API server writes it: "1024Ki" is
    // "1Mi".
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
