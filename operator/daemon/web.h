// SPDX-License-Identifier: GPL-2.0-or-later
// The HTTP pages for kubelets and Prometheus: GET only, on threads of their
// own.
#pragma once

#include "common/base/result.h"

#include <functional>
#include <memory>
#include <string>

namespace bridge::slinky {

class Web {
  public:
    struct Pages {
        // Each returns what is wrong, or "" for "ok". Called on any thread.
        std::function<std::string()> healthz;
        std::function<std::string()> readyz;
        std::function<std::string()> metrics;
    };

    // Code::rejected or Code::denied if it cannot listen there.
    static Result<std::unique_ptr<Web>> start(const std::string &address,
                                              Pages pages);
    ~Web();

  private:
    struct Impl;

    explicit Web(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> impl_;
};

} // namespace bridge::slinky
