// SPDX-License-Identifier: GPL-2.0-or-later
// What gres_for() has answered, which looks at every device of the cluster: the
// Pods of one template ask the same. Belongs to one thread.
#pragma once

#include "agent/device_catalog.h"

#include <map>
#include <memory>
#include <string>

namespace bridge {

class GresMemo {
  public:
    // As gres_for().
    Result<GresWish> gres_for(const std::shared_ptr<const DeviceCatalog> &catalog,
                              const DeviceRequest &request);

  private:
    std::shared_ptr<const DeviceCatalog> catalog_; // to which answers_ belong
    std::map<std::string, Result<GresWish>> answers_;
};

} // namespace bridge
