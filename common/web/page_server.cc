// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/web/page_server.h"

#include "common/base/host_port.h"

#include <arpa/inet.h>
#include <httplib.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <utility>

namespace bridge {

namespace {

constexpr std::size_t longest_request = 4096; // bytes

httplib::Server::Handler handler_of(const PageServer::Page &page)
{
    return [page](const httplib::Request &request, httplib::Response &reply) {
        PageReply said =
            page({[&request](const std::string &name) {
                      return request.get_param_value(name);
                  },
                  [&request](const std::string &name) {
                      return request.get_header_value(name);
                  },
                  [&request] { return is_of_this_host(request.remote_addr); }});
        reply.status = said.status;
        reply.set_content(said.body, said.type);
    };
}

std::string text_of(const sockaddr *address)
{
    char text[INET6_ADDRSTRLEN] = {};
    if (address && address->sa_family == AF_INET)
        inet_ntop(AF_INET,
                  &reinterpret_cast<const sockaddr_in *>(address)->sin_addr,
                  text, sizeof(text));
    else if (address && address->sa_family == AF_INET6)
        inet_ntop(AF_INET6,
                  &reinterpret_cast<const sockaddr_in6 *>(address)->sin6_addr,
                  text, sizeof(text));
    return text;
}

} // namespace

bool is_of_this_host(const std::string &address)
{
    // As a socket for both kinds of addresses has those of IPv4.
    constexpr std::string_view mapped = "::ffff:";
    std::string_view plain = address;
    if (plain.starts_with(mapped) && plain.contains('.'))
        plain.remove_prefix(mapped.size());
    if (plain.starts_with("127.") || plain == "::1")
        return true;
    ifaddrs *all = nullptr;
    if (plain.empty() || getifaddrs(&all) != 0)
        return false;
    bool found = false;
    for (const ifaddrs *one = all; one; one = one->ifa_next)
        found |= text_of(one->ifa_addr) == plain;
    freeifaddrs(all);
    return found;
}

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
