// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/web/page_server.h"

#include "common/base/host_port.h"
#include "common/web/page_callers.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <httplib.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace bridge {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t longest_request = 4096; // bytes
constexpr auto request_patience = 10s; // until all of the request has come
constexpr auto reply_patience = 30s;   // until all of the reply is taken

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

namespace {

// The bytes of one request and its reply. The library knows no limit for a
// whole request, this does.
class PageStream final : public httplib::Stream {
  public:
    PageStream(PageCallers &callers, int fd) : caller_(callers, fd), fd_(fd) {}

    bool is_readable() const override { return at_ < end_; }
    bool wait_readable() const override
    {
        return is_readable() || caller_.wait(POLLIN, until_);
    }
    bool wait_writable() const override
    {
        return caller_.wait(POLLOUT, until_);
    }
    ssize_t read(char *to, std::size_t size) override;
    ssize_t write(const char *from, std::size_t size) override;
    void get_remote_ip_and_port(std::string &ip, int &port) const override
    {
        name_of(getpeername, ip, port);
    }
    void get_local_ip_and_port(std::string &ip, int &port) const override
    {
        name_of(getsockname, ip, port);
    }
    socket_t socket() const override { return fd_; }
    std::time_t duration() const override
    {
        return std::chrono::floor<std::chrono::milliseconds>(Clock::now() -
                                                             since_)
            .count();
    }

  private:
    using Clock = PageCallers::Clock;

    void name_of(int (&get)(int, sockaddr *, socklen_t *), std::string &ip,
                 int &port) const;

    mutable PageCallers::Served caller_;
    const int fd_;
    const Clock::time_point since_ = Clock::now();
    Clock::time_point until_ = since_ + request_patience;
    bool replies_ = false;
    std::array<char, 4096> buffer_; // the library reads byte by byte
    std::size_t at_ = 0, end_ = 0;
};

ssize_t PageStream::read(char *to, std::size_t size)
{
    while (at_ == end_) {
        ssize_t count = recv(fd_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
            if (!caller_.wait(POLLIN, until_))
                return -1;
            continue;
        }
        if (count <= 0)
            return count;
        at_ = 0;
        end_ = static_cast<std::size_t>(count);
    }
    std::size_t count = std::min(size, end_ - at_);
    std::copy_n(buffer_.data() + at_, count, to);
    at_ += count;
    return static_cast<ssize_t>(count);
}

ssize_t PageStream::write(const char *from, std::size_t size)
{
    if (!std::exchange(replies_, true))
        until_ = Clock::now() + reply_patience;
    for (;;) {
        ssize_t count = send(fd_, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count >= 0 || (errno != EAGAIN && errno != EINTR))
            return count;
        if (!caller_.wait(POLLOUT, until_))
            return -1;
    }
}

void PageStream::name_of(int (&get)(int, sockaddr *, socklen_t *),
                         std::string &ip, int &port) const
{
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    auto *generic = reinterpret_cast<sockaddr *>(&address);
    if (get(fd_, generic, &size) != 0)
        return;
    ip = text_of(generic);
    port = ntohs(address.ss_family == AF_INET6
                     ? reinterpret_cast<sockaddr_in6 *>(generic)->sin6_port
                     : reinterpret_cast<sockaddr_in *>(generic)->sin_port);
}

// Serves one request of each connection.
class PatientServer final : public httplib::Server {
  public:
    explicit PatientServer(PageCallers &callers) : callers_(callers) {}

  private:
    bool process_and_close_socket(socket_t fd) override
    {
        bool done = serve(fd);
        shutdown(fd, SHUT_RDWR);
        close(fd);
        return done;
    }

    bool serve(int fd)
    {
        PageStream stream(callers_, fd);
        std::string from, to;
        int from_port = 0, to_port = 0;
        stream.get_remote_ip_and_port(from, from_port);
        stream.get_local_ip_and_port(to, to_port);
        bool closed = false;
        return process_request(stream, from, from_port, to, to_port, true,
                               closed, nullptr);
    }

    PageCallers &callers_;
};

class PageQueue final : public httplib::TaskQueue {
  public:
    PageQueue(PageCallers &callers, std::size_t threads)
        : callers_(callers), pool_(threads)
    {
    }

    // The library closes the connection if this returns false.
    bool enqueue(std::function<void()> serve) override
    {
        if (!callers_.enqueue())
            return false;
        bool taken = pool_.enqueue(std::move(serve));
        if (!taken)
            callers_.drop_queued();
        return taken;
    }
    void shutdown() override { pool_.shutdown(); }

  private:
    PageCallers &callers_;
    httplib::ThreadPool pool_;
};

} // namespace

struct PageServer::Impl {
    explicit Impl(std::size_t threads) : callers(threads) {}

    PageCallers callers;
    PatientServer server{callers};
    std::jthread thread;
};

PageServer::PageServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

PageServer::~PageServer()
{
    impl_->callers.stop();
    impl_->server.stop();
}

Result<std::unique_ptr<PageServer>>
PageServer::start(const std::string &address, const std::string &setting,
                  std::size_t threads, const std::map<std::string, Page> &pages)
{
    auto at = split_port(address);
    if (!at || at->host.empty())
        return fail(Code::rejected, setting + " is not IP:PORT");
    auto impl = std::make_unique<Impl>(threads);
    httplib::Server &server = impl->server;
    server.new_task_queue = [&callers = impl->callers, threads] {
        return new PageQueue(callers, threads);
    };
    server.set_payload_max_length(longest_request);
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
