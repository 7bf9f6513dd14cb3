// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/web.h"

#include "common/base/host_port.h"

#include <httplib.h>
#include <thread>
#include <utility>

namespace bridge::slinky {

namespace {

constexpr std::size_t web_threads = 2;
constexpr std::size_t longest_request = 4096; // bytes

httplib::Server::Handler page(std::function<std::string()> problems)
{
    return [problems = std::move(problems)](const httplib::Request &,
                                            httplib::Response &reply) {
        std::string said = problems();
        reply.status = said.empty() ? 200 : 503;
        reply.set_content(said.empty() ? "ok\n" : said + "\n", "text/plain");
    };
}

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
                    "--web-address " + address + " is not IP:PORT");
    auto impl = std::make_unique<Impl>();
    httplib::Server &server = impl->server;
    server.new_task_queue = [] { return new httplib::ThreadPool(web_threads); };
    server.set_payload_max_length(longest_request);
    server.set_keep_alive_timeout(1); // seconds; an idle caller holds a thread
    server.set_read_timeout(2);
    server.Get("/healthz", page(pages.healthz));
    server.Get("/readyz", page(pages.readyz));
    server.Get("/metrics", [metrics = pages.metrics](const httplib::Request &,
                                                     httplib::Response &reply) {
        reply.set_content(metrics(), "text/plain; version=0.0.4");
    });
    if (!server.bind_to_port(at->host, at->port))
        return fail(Code::denied, "cannot listen on " + address);
    impl->thread = std::jthread([&server] { server.listen_after_bind(); });
    server.wait_until_ready();
    return std::unique_ptr<Web>(new Web(std::move(impl)));
}

} // namespace bridge::slinky
