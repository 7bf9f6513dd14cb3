// SPDX-License-Identifier: GPL-2.0-or-later
// What CEL expressions compute with, and how that compares.
#pragma once

#include "agent/cel/budget.h"
#include "agent/objects/device.h"
#include "common/base/result.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace bridge {

struct CelValue;
using CelList = std::shared_ptr<const std::vector<CelValue>>;

struct CelOptional {
    std::shared_ptr<const CelValue> value; // null: none
};

// `device` itself.
struct CelDeviceObject {};

// A part of the device: all domains, or one of them. Keys are strings.
struct CelMap {
    enum class Of { attributes, capacity };

    Of of = Of::attributes;
    bool one_domain = false;
    std::string domain{};
};

struct CelValue {
    std::variant<bool, std::int64_t, double, std::string, Semver, Quantity,
                 CelList, CelMap, CelOptional, CelDeviceObject>
        is = false;
};

// In words, for errors: "string".
const char *type_name(const CelValue &value);

CelValue cel_list(std::vector<CelValue> items);
CelValue cel_optional(CelValue value);
CelValue cel_none();

// Bytes or items, about: what copying it costs.
std::size_t size_of(const CelValue &value);

// As cel-go: 1 == 1.0, 1 == "1" is false, and a version or a quantity on the
// left can be compared with its like only.
Result<bool> cel_equal(const CelValue &a, const CelValue &b, CelBudget &budget);

// For < and the like: numbers, strings, bools.
Result<std::strong_ordering> cel_order(const CelValue &a, const CelValue &b);

} // namespace bridge
