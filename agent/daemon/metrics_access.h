// SPDX-License-Identifier: GPL-2.0-or-later
// Who may read what PrivateData hides: those who send the token of
// MetricsTokenFile as Prometheus does, "Authorization: Bearer TOKEN".
#pragma once

#include "agent/metrics/slurm_metrics.h"
#include "common/base/reported.h"
#include "common/base/result.h"

#include <mutex>
#include <string>

namespace bridge {

class MetricsAccess {
  public:
    // file: empty if nobody may.
    explicit MetricsAccess(std::string file) : file_(std::move(file)) {}

    // authorization: that header of a request; "": it has none. Code::denied
    // for another token, and for any if the file cannot be used, which the log
    // says once for each reason. The file is read each time, so that the token
    // may be replaced. Any thread may call it.
    Result<MetricsReader> reader(const std::string &authorization);

  private:
    const std::string file_;
    std::mutex mutex_;
    Reported reported_; // in the log
};

} // namespace bridge
