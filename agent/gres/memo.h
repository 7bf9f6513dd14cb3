// SPDX-License-Identifier: GPL-2.0-or-later
// What gres_for() and fit_counts() have answered, which look at every device of
// the cluster: the Pods of one template ask the same. Belongs to one thread.
#pragma once

#include "agent/gres/catalog.h"
#include "agent/gres/fit_counts.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>

namespace bridge {

class GresMemo {
  public:
    // As gres_for() with CelSelector::max_sum. What the answer has cost, also
    // one that is remembered, is taken off the budget, which changes no answer.
    Result<GresWish>
    gres_for(const std::shared_ptr<const DeviceCatalog> &catalog,
             const DeviceRequest &request, CelBudget &budget);
    // As fit_counts(), likewise. Never null.
    std::shared_ptr<const FitCounts>
    counts_for(const std::shared_ptr<const DeviceCatalog> &catalog,
               const DeviceRequest &request, CelBudget &budget);

  private:
    struct Answer {
        Result<GresWish> wish;
        std::size_t cost = 0;
    };
    struct Counts {
        std::shared_ptr<const FitCounts> counts;
        std::size_t cost = 0;
    };

    void turn_to(const std::shared_ptr<const DeviceCatalog> &catalog);
    static Answer ask(const DeviceCatalog &catalog,
                      const DeviceRequest &request);

    std::shared_ptr<const DeviceCatalog> catalog_; // to which the others belong
    // A wish whatever the request's name.
    std::map<std::string, Answer> answers_;
    std::map<std::string, Counts> counts_;
};

} // namespace bridge
