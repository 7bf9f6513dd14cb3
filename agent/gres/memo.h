// SPDX-License-Identifier: GPL-2.0-or-later
// Remembers the answers of gres_for() and fit_counts(), which check every
// device of the cluster: Pods of one template ask the same. Belongs to one
// thread.
#pragma once

#include "agent/gres/catalog.h"
#include "agent/gres/fit_counts.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>

namespace bridge {

// Returns all parts of the request that decide which devices fit. Two requests
// have the same key only if these are equal.
std::string fit_key(const DeviceRequest &request);

class GresMemo {
  public:
    // Returns what gres_for() returns with a budget of CelSelector::max_sum.
    // The cost of the answer, also of a remembered one, is subtracted from the
    // budget, which does not change the answer.
    Result<GresWish>
    gres_for(const std::shared_ptr<const DeviceCatalog> &catalog,
             const DeviceRequest &request, CelBudget &budget);
    // Returns what fit_counts() returns, likewise. Never null.
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

    // The catalog of the remembered answers.
    std::shared_ptr<const DeviceCatalog> catalog_;
    // Successful answers do not depend on the request's name; errors contain
    // it.
    std::map<std::string, Answer> answers_;
    std::map<std::string, Counts> counts_;
};

} // namespace bridge
