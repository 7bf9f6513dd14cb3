// SPDX-License-Identifier: GPL-2.0-or-later
// HTTP pages for kubelets, Prometheus and our own commands: GET only, without
// encryption, on threads of the server.
#pragma once

#include "common/base/result.h"
#include "common/metrics/metric_text.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace bridge {

struct PageReply {
    int status = 200;
    std::string body;
    std::string type = "text/plain";
};

// The first two return "" for what the request does not have.
struct PageRequest {
    std::function<std::string(const std::string &name)> parameter; // of a query
    std::function<std::string(const std::string &name)> header;
    std::function<bool()> from_this_host; // see is_of_this_host()
};

// Whether this host has the address, an IP literal. A proxy on this host lends
// it to its clients.
bool is_of_this_host(const std::string &address);

class PageServer {
  public:
    // Called on any thread of the server, on several at once.
    using Page = std::function<PageReply(const PageRequest &)>;

    // Listens at address, which is IP:PORT, and serves these pages, by path.
    // setting: the address as the user has given it, for messages. threads: how
    // many connections are served at once; while more wait, the oldest one
    // that sends or reads slowly is ended. Code::rejected for any other text,
    // Code::denied when it is not possible to listen there.
    static Result<std::unique_ptr<PageServer>>
    start(const std::string &address, const std::string &setting,
          std::size_t threads, const std::map<std::string, Page> &pages);
    ~PageServer();

  private:
    struct Impl;

    explicit PageServer(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> impl_;
};

// A page for probes: "ok" if nothing is wrong, else what is, with status 503.
PageReply probe_page(const std::string &problems);
// A page of metrics, in the format that the request wants.
PageReply metrics_page(const PageRequest &request,
                       const std::function<MetricText(MetricFormat)> &write);

} // namespace bridge
