// SPDX-License-Identifier: GPL-2.0-or-later
// Answers questions about devices. Remembers what it needs to know of a catalog
// for all of them. Used by one thread at a time.
#pragma once

#include "agent/gres/device_question.h"

#include <cstddef>
#include <memory>

namespace bridge {

class GresEvaluator {
  public:
    DeviceAnswer answer(const std::shared_ptr<const DeviceCatalog> &catalog,
                        const DeviceQuestion &question);

  private:
    std::shared_ptr<const DeviceCatalog> catalog_;
    DeviceKinds kinds_;
    std::size_t devices_ = 0;
};

} // namespace bridge
