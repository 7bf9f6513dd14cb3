// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/web.h"

#include <utility>

namespace bridge {

namespace {

constexpr std::size_t web_threads = 4;
constexpr char json[] = "application/json";
constexpr int forbidden = 403;

PageReply metrics_for(const PageRequest &request, const WebPages &pages,
                      const WebPages::Metrics &write)
{
    auto reader = pages.reader(request.header("Authorization"));
    if (!reader)
        return {.status = forbidden, .body = reader.error().message + "\n"};
    return metrics_page(
        request, [&](MetricFormat format) { return write(format, *reader); });
}

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
              return metrics_for(request, pages, pages.metrics);
          }},
         {"/metrics/detail",
          [pages](const Request &request) {
              return metrics_for(request, pages, pages.detail);
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
