// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of the selectors that a plan for a node of a job needs:
// plan_claims() looks them up here, so that the owner thread evaluates none.
#pragma once

#include "agent/gres/device_question.h"
#include "agent/gres/needs.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace bridge {

class PlanResults final : public CelVerdicts {
  public:
    // Returns what is known of the selectors of both; null: nothing.
    using Known = std::function<std::shared_ptr<const SelectorResults>(
        const DeviceRequest &, const DeviceClass &)>;

    // Adds what is known of what these need, which must outlive this, as must
    // the classes.
    void add(const std::vector<DevicesWanted> &wanted,
             const DeviceClasses &classes, const Known &known);

    Result<bool> find(const CelSelector &selector,
                      const Device &device) const override;

    // Whether find() did not know something.
    bool any_missing() const { return missing_; }

  private:
    using Found = const SelectorResults::OfDevice *; // null: nothing is known
    // A device is looked up by its names once, and then by its address.
    struct Source {
        std::shared_ptr<const SelectorResults> known;
        std::unordered_map<const Device *, Found> found;
    };
    struct Place {
        Source *source = nullptr;
        std::size_t index = 0; // in OfDevice::results
    };

    void add(const std::vector<CelSelector> &selectors, std::size_t first,
             Source &source);
    static Found look_up(Source &source, const Device &device);

    std::map<const SelectorResults *, Source> sources_;
    std::unordered_map<const CelSelector *, std::vector<Place>> places_;
    std::unordered_set<const DeviceRequest *> seen_;
    mutable bool missing_ = false;
};

} // namespace bridge
