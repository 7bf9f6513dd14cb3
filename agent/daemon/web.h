// SPDX-License-Identifier: GPL-2.0-or-later
// The agent's own HTTP endpoints, meant for loopback: /healthz for probes,
// /metrics for Prometheus, /status and /explain for slurmk8s(1). They read
// only, and tell whoever can reach them what squeue and scontrol tell
// everybody, with the Pods' names: see WebAddress in k8s.conf(5).
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
    // answered. Nothing: it did not answer in time.
    struct Pages {
        std::function<std::string()> problems; // empty: serving well
        std::function<std::string()> metrics;
        std::function<std::string()> status; // JSON
        // By the name of a Pod, or by a JobId: one of them.
        std::function<WebReply(const std::string &, const std::string &)>
            explain;
    };

    // address: IP:PORT. Code::rejected for anything else, Code::denied when
    // nobody may listen there.
    static Result<std::unique_ptr<Web>> start(const std::string &address,
                                              Pages pages);
    ~Web();

  private:
    struct Impl;
    explicit Web(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace bridge
