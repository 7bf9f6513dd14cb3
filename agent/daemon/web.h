// SPDX-License-Identifier: GPL-2.0-or-later
// The agent's HTTP endpoints, meant for loopback: /healthz for probes, /metrics
// and /metrics/detail for Prometheus, /status and /explain for slurmk8s(1).
// They are read-only. /status and /explain have names of Pods, whatever
// PrivateData hides: on other hosts only those may read them who send the token
// of MetricsTokenFile. See WebAddress in k8s.conf(5).
#pragma once

#include "agent/metrics/slurm_metrics.h"
#include "agent/owner/explain_page.h"
#include "common/base/result.h"
#include "common/metrics/metric_text.h"
#include "common/web/page_server.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace bridge {

// Called on threads of the server; each blocks until the owner thread has
// answered or a limit is reached: see pages_of().
struct WebPages {
    std::function<std::string()> problems; // empty: serving well
    // Who has sent this header Authorization; "": there is none.
    std::function<Result<MetricsReader>(const std::string &)> reader;
    using Metrics = std::function<MetricText(MetricFormat, MetricsReader)>;
    Metrics metrics;
    Metrics detail;                      // costly or personal
    std::function<std::string()> status; // JSON
    // The name of a Pod and a JobId; exactly one of them is given.
    std::function<WebReply(const std::string &, const std::string &)> explain;
};

// The same by their paths, each for those who may read it.
std::map<std::string, PageServer::Page> page_table(const WebPages &pages);

// Serves them at address, with the Codes of PageServer::start().
Result<std::unique_ptr<PageServer>> start_web(const std::string &address,
                                              const WebPages &pages);

} // namespace bridge
