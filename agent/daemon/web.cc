// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/web.h"

#include "common/base/json.h"

#include <utility>

namespace bridge {

namespace {

constexpr std::size_t web_threads = 16;
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

// What only those may read who are on this host, or send the token.
PageReply told_here(const PageRequest &request, const WebPages &pages,
                    const std::function<WebReply()> &write)
{
    auto reader = pages.reader(request.header("Authorization"));
    std::string reason;
    if (!reader)
        reason = reader.error().message;
    else if (*reader != MetricsReader::trusted && !request.from_this_host())
        reason = "from another host only who sends the token of "
                 "MetricsTokenFile may read this";
    WebReply said =
        reason.empty()
            ? write()
            : WebReply{forbidden,
                       JsonValue::object({{"error", reason}}).dump()};
    return {said.status, std::move(said.body), json};
}

} // namespace

std::map<std::string, PageServer::Page> page_table(const WebPages &pages)
{
    using Request = PageRequest;
    return {{"/healthz",
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
             [pages](const Request &request) {
                 return told_here(request, pages, [&] {
                     return WebReply{.body = pages.status()};
                 });
             }},
            {"/explain", [pages](const Request &request) {
                 return told_here(request, pages, [&] {
                     return pages.explain(request.parameter("pod"),
                                          request.parameter("job"));
                 });
             }}};
}

Result<std::unique_ptr<PageServer>> start_web(const std::string &address,
                                              const WebPages &pages)
{
    return PageServer::start(address, "WebAddress=" + address, web_threads,
                             page_table(pages));
}

} // namespace bridge
