// SPDX-License-Identifier: GPL-2.0-or-later
// Device selectors: the part of CEL that DeviceClasses and ResourceClaims use,
// with the same results as in kube-scheduler. Anything outside this part is
// refused by name when it is parsed, never guessed. Users write selectors, so
// their size, depth and cost are bounded. Pure; a selector may be used by many
// threads.
//
//     device.driver  device.attributes["domain"].id
//     device.capacity["domain"].id  device.allowMultipleAllocations
//     has(a.b)  a.?b  a[?"b"]
//     1 -1 0x1f 1.5 "text" r'text' true [1, 2]
//     ! && || == != < <= > >= in ?: + - * / % -a
//     s.startsWith(t) .endsWith .contains .matches(regex) .lowerAscii()
//     .upperAscii() .size() size(s)
//     isQuantity(s) quantity(s) isSemver(s) semver(s)
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
    // Limit for all evaluations behind one answer, such as which devices of the
    // cluster fit. Typical selectors cost some tens; this allows 500 for each
    // of 40,000 devices. All other limits are in agent/gres/cel_limits.h.
    static constexpr std::size_t max_sum = 20000000;
    // Of a result that is looked up: some 0.5 us.
    static constexpr std::size_t cost_of_lookup = 25;
    static constexpr char too_much_in_sum[] =
        "too expensive to evaluate for so many devices";

    // Returns Code::rejected, with a message for the owner of the claim or
    // class that names what is not supported and at which byte.
    static Result<CelSelector> parse(std::string_view text);

    // Returns whether the device matches. Returns Code::rejected if that cannot
    // be decided: the device does not have an attribute, types do not go
    // together, an attribute is of an unknown kind, the result is not a bool,
    // or the evaluation is too expensive. That does not mean "no":
    // kube-scheduler then allocates nothing for the whole claim. sum: what is
    // left of the budget for all evaluations behind one answer. Once an
    // evaluation exceeds its own limit or the sum, nothing is left of the sum:
    // the caller must stop. If sum has verdicts, nothing is evaluated:
    // Code::busy if these do not know the result.
    Result<bool> matches(const Device &device, CelBudget &sum) const;
    // The same with a budget of its own.
    Result<bool> matches(const Device &device) const;
    // The same, for a caller that goes on with other devices: one that exceeds
    // its own limit takes no more than that of the sum.
    Result<bool> matches_alone(const Device &device, CelBudget &sum) const;

    const std::string &text() const { return text_; }
    // digest_of() the text, for keys.
    const std::string &digest() const { return digest_; }

    // Frees the parsed expression and keeps the text. matches() returns
    // Code::rejected from now on.
    void forget_tree() { root_.reset(); }

  private:
    std::string text_;
    std::string digest_;
    std::shared_ptr<const CelNode> root_;
};

// What selectors came to for devices.
class CelVerdicts {
  public:
    CelVerdicts() = default;
    CelVerdicts(const CelVerdicts &) = delete;
    CelVerdicts &operator=(const CelVerdicts &) = delete;
    virtual ~CelVerdicts() = default;

    // Returns what matches() does; Code::busy if that is not known.
    virtual Result<bool> find(const CelSelector &selector,
                              const Device &device) const = 0;
};

} // namespace bridge
