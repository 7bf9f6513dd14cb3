// SPDX-License-Identifier: GPL-2.0-or-later
// HTTP pages for kubelets, Prometheus and our own commands: GET only, without
// encryption, on threads of the server.
#pragma once

#include "common/base/result.h"

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

class PageServer {
  public:
    // Returns a parameter of the query, or "".
    using Query = std::function<std::string(const std::string &name)>;
    // Called on any thread of the server, on several at once.
    using Page = std::function<PageReply(const Query &)>;

    // Listens at address, which is IP:PORT, and serves these pages, by path.
    // setting: the address as the user has given it, for messages. threads: how
    // many pages are served at once. Code::rejected for any other text,
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
// A page in the text format of Prometheus.
PageReply metrics_page(std::string metrics);

} // namespace bridge
