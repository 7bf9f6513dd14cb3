// SPDX-License-Identifier: GPL-2.0-or-later
// The values of CEL expressions, and how they compare. Pure.
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

// The attributes or capacities of the device: all domains, or one of them. Keys
// are strings.
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

// Returns the name of the value's type for messages, such as "string".
const char *type_name(const CelValue &value);

CelValue cel_list(std::vector<CelValue> items);
CelValue cel_optional(CelValue value);
CelValue cel_none();

// Returns the cost of copying the value: about its bytes or items.
std::size_t size_of(const CelValue &value);

// Compares as cel-go does: 1 == 1.0 is true, 1 == "1" is false. A version or
// quantity on the left can only be compared with its own type; else
// Code::rejected.
Result<bool> cel_equal(const CelValue &a, const CelValue &b, CelBudget &budget);

// Orders two numbers, strings or bools, for < and similar operators.
// Code::rejected for other types.
Result<std::strong_ordering> cel_order(const CelValue &a, const CelValue &b);

} // namespace bridge
