// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/web.h"

#include "common/base/host_port.h"

#include <httplib.h>
#include <thread>

namespace bridge {

namespace {

constexpr std::size_t web_threads = 4;
constexpr std::size_t longest_request = 4096; // bytes

} // namespace

struct Web::Impl {
    httplib::Server server;
    std::jthread thread;
};

Web::Web(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Web::~Web()
{
    impl_->server.stop();
}

Result<std::unique_ptr<Web>> Web::start(const std::string &address, Pages pages)
{
    auto at = split_port(address);
    if (!at || at->host.empty())
        return fail(Code::rejected,
                    "WebAddress=" + address + " is not IP:PORT");

    auto impl = std::make_unique<Impl>();
    httplib::Server &server = impl->server;
    server.new_task_queue = [] { return new httplib::ThreadPool(web_threads); };
    server.set_payload_max_length(longest_request);
    server.set_keep_alive_timeout(1); // seconds; an idle caller holds a thread
    server.set_read_timeout(2);
    server.Get("/healthz", [pages](const httplib::Request &,
                                   httplib::Response &reply) {
        std::string problems = pages.problems();
        reply.status = problems.empty() ? 200 : 503;
        reply.set_content(problems.empty() ? "ok\n" : problems, "text/plain");
    });
    server.Get("/metrics", [pages](const httplib::Request &,
                                   httplib::Response &reply) {
        reply.set_content(pages.metrics(), "text/plain; version=0.0.4");
    });
    server.Get("/status",
               [pages](const httplib::Request &, httplib::Response &reply) {
                   reply.set_content(pages.status(), "application/json");
               });
    server.Get("/explain", [pages](const httplib::Request &request,
                                   httplib::Response &reply) {
        WebReply said = pages.explain(request.get_param_value("pod"),
                                      request.get_param_value("job"));
        reply.status = said.status;
        reply.set_content(said.body, "application/json");
    });
    if (!server.bind_to_port(at->host, at->port))
        return fail(Code::denied, "cannot listen on WebAddress=" + address);
    impl->thread = std::jthread([&server] { server.listen_after_bind(); });
    server.wait_until_ready();
    return std::unique_ptr<Web>(new Web(std::move(impl)));
}

} // namespace bridge
