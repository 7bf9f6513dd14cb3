// SPDX-License-Identifier: GPL-2.0-or-later
// What gres_for() and fit_counts() have answered, which look at every device of
// the cluster: the Pods of one template ask the same. Belongs to one thread.
#pragma once

#include "agent/device_catalog.h"
#include "agent/fit_counts.h"

#include <map>
#include <memory>
#include <string>

namespace bridge {

class GresMemo {
  public:
    // As gres_for().
    Result<GresWish> gres_for(const std::shared_ptr<const DeviceCatalog> &catalog,
                              const DeviceRequest &request);
    // As fit_counts(). Never null.
    std::shared_ptr<const FitCounts>
    counts_for(const std::shared_ptr<const DeviceCatalog> &catalog,
               const DeviceRequest &request);

  private:
    void turn_to(const std::shared_ptr<const DeviceCatalog> &catalog);

    std::shared_ptr<const DeviceCatalog> catalog_; // to which the others belong
    std::map<std::string, GresWish> wishes_; // whatever the request's name
    std::map<std::string, Error> errors_;
    std::map<std::string, std::shared_ptr<const FitCounts>> counts_;
};

} // namespace bridge
