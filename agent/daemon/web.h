// SPDX-License-Identifier: GPL-2.0-or-later
// The agent's HTTP endpoints, meant for loopback: /healthz for probes, /metrics
// for Prometheus, /status and /explain for slurmk8s(1). They are read-only.
// Anyone who can reach them learns what squeue and scontrol show to everybody,
// and the names of the Pods: see WebAddress in k8s.conf(5).
#pragma once

#include "agent/owner/explain_page.h"
#include "common/base/result.h"

#include <functional>
#include <memory>
#include <string>

namespace bridge {

class Web {
  public:
    // Called on threads of the server; each blocks until the owner thread has
    // answered or a limit is reached: see pages_of().
    struct Pages {
        std::function<std::string()> problems; // empty: serving well
        std::function<std::string()> metrics;
        std::function<std::string()> status; // JSON
        // The name of a Pod and a JobId; exactly one of them is given.
        std::function<WebReply(const std::string &, const std::string &)>
            explain;
    };

    // Listens at address, which is IP:PORT. Code::rejected for any other text,
    // Code::denied when it is not possible to listen there.
    static Result<std::unique_ptr<Web>> start(const std::string &address,
                                              Pages pages);
    ~Web();

  private:
    struct Impl;
    explicit Web(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace bridge
