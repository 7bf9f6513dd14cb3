// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/web.h"

#include <utility>

namespace bridge {

namespace {

constexpr std::size_t web_threads = 4;
constexpr char json[] = "application/json";

} // namespace

Result<std::unique_ptr<PageServer>> start_web(const std::string &address,
                                              const WebPages &pages)
{
    using Request = PageRequest;
    return PageServer::start(
        address, "WebAddress=" + address, web_threads,
        {{"/healthz",
          [pages](const Request &) { return probe_page(pages.problems()); }},
         {"/metrics",
          [pages](const Request &request) {
              return metrics_page(request, pages.metrics);
          }},
         {"/metrics/detail",
          [pages](const Request &request) {
              return metrics_page(request, pages.detail);
          }},
         {"/status",
          [pages](const Request &) {
              return PageReply{.body = pages.status(), .type = json};
          }},
         {"/explain", [pages](const Request &request) {
              WebReply said = pages.explain(request.parameter("pod"),
                                            request.parameter("job"));
              return PageReply{said.status, std::move(said.body), json};
          }}});
}

} // namespace bridge
