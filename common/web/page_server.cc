// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/web/page_server.h"

#include "common/base/host_port.h"

#include <httplib.h>
#include <thread>
#include <utility>

namespace bridge {

namespace {

constexpr std::size_t longest_request = 4096; // bytes

httplib::Server::Handler handler_of(const PageServer::Page &page)
{
    return [page](const httplib::Request &request, httplib::Response &reply) {
        PageReply said = page({[&request](const std::string &name) {
                                   return request.get_param_value(name);
                               },
                               [&request](const std::string &name) {
                                   return request.get_header_value(name);
                               }});
        reply.status = said.status;
        reply.set_content(said.body, said.type);
    };
}

} // namespace

struct PageServer::Impl {
    httplib::Server server;
    std::jthread thread;
};

PageServer::PageServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

PageServer::~PageServer()
{
    impl_->server.stop();
}

Result<std::unique_ptr<PageServer>>
PageServer::start(const std::string &address, const std::string &setting,
                  std::size_t threads, const std::map<std::string, Page> &pages)
{
    auto at = split_port(address);
    if (!at || at->host.empty())
        return fail(Code::rejected, setting + " is not IP:PORT");
    auto impl = std::make_unique<Impl>();
    httplib::Server &server = impl->server;
    server.new_task_queue = [threads] {
        return new httplib::ThreadPool(threads);
    };
    server.set_payload_max_length(longest_request);
    server.set_keep_alive_timeout(1); // seconds; an idle caller holds a thread
    server.set_read_timeout(2);
    for (const auto &[path, page] : pages)
        server.Get(path, handler_of(page));
    if (!server.bind_to_port(at->host, at->port))
        return fail(Code::denied, "cannot listen on " + setting);
    impl->thread = std::jthread([&server] { server.listen_after_bind(); });
    server.wait_until_ready();
    return std::unique_ptr<PageServer>(new PageServer(std::move(impl)));
}

PageReply probe_page(const std::string &problems)
{
    if (problems.empty())
        return {.body = "ok\n"};
    return {.status = 503, .body = problems};
}

PageReply metrics_page(const PageRequest &request,
                       const std::function<MetricText(MetricFormat)> &write)
{
    MetricFormat format = format_for(request.header("Accept"));
    return {.body = write(format).finish(), .type = content_type(format)};
}

} // namespace bridge
