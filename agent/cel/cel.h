// SPDX-License-Identifier: GPL-2.0-or-later
// Device selectors: the part of CEL that DeviceClasses and ResourceClaims use,
// with the meaning it has in kube-scheduler. What is outside of it is refused
// by name when it is parsed, never guessed. Users write these: size, depth and
// cost are bounded. Pure; a selector may be used by many threads.
//
//     device.driver  device.attributes["domain"].id  device.capacity["domain"].id
//     device.allowMultipleAllocations      has(a.b)  a.?b  a[?"b"]
//     1 -1 0x1f 1.5 "text" r'text' true [1, 2]
//     ! && || == != < <= > >= in ?: + -a
//     s.startsWith(t) .endsWith .contains .matches(regex) .lowerAscii()
//     .upperAscii()   isQuantity(s) quantity(s) isSemver(s) semver(s)
//     q.compareTo(p) .isGreaterThan .isLessThan
//     o.orValue(x) .hasValue() .value()     list.exists(v, e) .all(v, e)
//     cel.bind(v, a, e)
#pragma once

#include "agent/cel/budget.h"
#include "common/base/result.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace bridge {

struct CelNode;
struct Device;

class CelSelector {
  public:
    static constexpr std::size_t max_text = 10 * 1024;
    static constexpr std::size_t max_cost = 1000000; // of one evaluation
    // Of all evaluations for one answer, such as which devices of the cluster
    // will do. What people write costs some tens; this is 500 for each of
    // 40,000 devices.
    static constexpr std::size_t max_sum = 20000000;
    static constexpr char too_much_in_sum[] =
        "too much to do for so many devices";

    // Code::rejected, with what is not supported and the byte where it is, for
    // the owner of the claim or class.
    static Result<CelSelector> parse(std::string_view text);

    // Whether the device is one. Code::rejected when that cannot be told: an
    // attribute that it has not, types that do not go together, an attribute of
    // an unknown kind, a result that is no bool, too much to do. That is no
    // "no": kube-scheduler then allocates nothing for the whole claim.
    // sum: what is left for all that is asked together. Once an evaluation is
    // too much, by itself or in sum, nothing is left of it: then stop asking.
    Result<bool> matches(const Device &device, CelBudget &sum) const;
    Result<bool> matches(const Device &device) const; // by itself

    const std::string &text() const { return text_; }

    // Only its text stays: matches() cannot tell any more.
    void forget_tree() { root_.reset(); }

  private:
    std::string text_;
    std::shared_ptr<const CelNode> root_;
};

} // namespace bridge
