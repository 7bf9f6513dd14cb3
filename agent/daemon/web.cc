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
    using Query = PageServer::Query;
    return PageServer::start(
        address, "WebAddress=" + address, web_threads,
        {{"/healthz",
          [pages](const Query &) { return probe_page(pages.problems()); }},
         {"/metrics",
          [pages](const Query &) { return metrics_page(pages.metrics()); }},
         {"/status",
          [pages](const Query &) {
              return PageReply{.body = pages.status(), .type = json};
          }},
         {"/explain", [pages](const Query &query) {
              WebReply said = pages.explain(query("pod"), query("job"));
              return PageReply{said.status, std::move(said.body), json};
          }}});
}

} // namespace bridge
