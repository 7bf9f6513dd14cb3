// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/fakes/tls_server.h"

#include "tests/unit/fakes/tls_certificate.h"

#include <arpa/inet.h>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <list>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace bridge {

namespace {

// One accepted socket with TLS on it.
class Connection : public TlsServer::Peer {
  public:
    Connection(SSL_CTX *context, int fd) : fd_(fd), ssl_(SSL_new(context))
    {
        SSL_set_fd(ssl_.get(), fd);
    }
    ~Connection() override { ::close(fd_); }

    bool accept() { return SSL_accept(ssl_.get()) == 1; }
    bool is_cut() const { return cut_; }
    void abort() { ::shutdown(fd_, SHUT_RDWR); } // from another thread

    bool send(std::string_view bytes) override
    {
        return SSL_write(ssl_.get(), bytes.data(),
                         static_cast<int>(bytes.size())) > 0;
    }
    bool has_input() override
    {
        pollfd one = {fd_, POLLIN, 0};
        return !buffer_.empty() || SSL_pending(ssl_.get()) > 0 ||
               ::poll(&one, 1, 0) > 0;
    }
    void cut() override { cut_ = true; }
    void wait_for_end() override
    {
        while (fill())
            ;
    }

    // False when the client has gone.
    bool read(TlsServer::Request &request)
    {
        std::size_t end = 0;
        while ((end = buffer_.find("\r\n\r\n")) == buffer_.npos)
            if (!fill())
                return false;
        std::string head = buffer_.substr(0, end + 2);
        buffer_.erase(0, end + 4);
        std::size_t space = head.find(' ');
        std::size_t second = head.find(' ', space + 1);
        std::size_t line_end = head.find("\r\n");
        request.method = head.substr(0, space);
        request.target = head.substr(space + 1, second - space - 1);
        request.head = head.substr(line_end);
        std::size_t length = body_length(request.head);
        while (buffer_.size() < length)
            if (!fill())
                return false;
        request.body = buffer_.substr(0, length);
        buffer_.erase(0, length);
        return true;
    }

  private:
    static std::size_t body_length(const std::string &head)
    {
        constexpr std::string_view name = "\r\nContent-Length: ";
        std::size_t length = 0;
        std::size_t at = head.find(name);
        if (at != head.npos)
            std::from_chars(head.data() + at + name.size(),
                            head.data() + head.size(), length);
        return length;
    }

    bool fill()
    {
        char bytes[4096];
        int size = SSL_read(ssl_.get(), bytes, sizeof bytes);
        if (size <= 0)
            return false;
        buffer_.append(bytes, static_cast<std::size_t>(size));
        return true;
    }

    int fd_;
    SslConnection ssl_;
    std::string buffer_;
    bool cut_ = false;
};

} // namespace

struct TlsServer::Impl {
    void listen();
    void accept_all();
    void serve(Connection &connection);

    Handler handler;
    std::string folder;
    SslContext context;
    int fd = -1;
    int port = 0;
    mutable std::mutex mutex; // of the next two
    std::vector<Request> requests;
    std::list<Connection> open;
    std::atomic<int> connections = 0;
    std::list<std::jthread> threads;
    std::jthread acceptor;
};

void TlsServer::Impl::listen()
{
    fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto *generic = reinterpret_cast<sockaddr *>(&address);
    socklen_t size = sizeof address;
    if (::bind(fd, generic, size) != 0 || ::listen(fd, 16) != 0 ||
        ::getsockname(fd, generic, &size) != 0)
        std::abort();
    port = ntohs(address.sin_port);
}

void TlsServer::Impl::accept_all()
{
    for (;;) {
        int client = ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0)
            return;
        // Else a second write waits 40 ms for the client's delayed ACK.
        int on = 1;
        ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        connections++;
        std::lock_guard lock(mutex);
        Connection &connection = open.emplace_back(context.get(), client);
        threads.emplace_back([this, &connection] { serve(connection); });
    }
}

void TlsServer::Impl::serve(Connection &connection)
{
    Request request;
    if (connection.accept())
        while (!connection.is_cut() && connection.read(request)) {
            {
                std::lock_guard lock(mutex);
                requests.push_back(request);
            }
            handler(request, connection);
        }
    connection.abort();
}

TlsServer::TlsServer(Handler handler) : impl_(std::make_unique<Impl>())
{
    std::signal(SIGPIPE, SIG_IGN); // as the agent does; OpenSSL raises it
    impl_->handler = std::move(handler);
    std::string folder = std::filesystem::temp_directory_path() / "tlsXXXXXX";
    if (!::mkdtemp(folder.data()))
        std::abort();
    impl_->folder = folder;
    write_token("secret\n");
    impl_->context = make_server_context(folder + "/ca.crt");
    if (!impl_->context)
        std::abort();
    impl_->listen();
    impl_->acceptor =
        std::jthread([impl = impl_.get()] { impl->accept_all(); });
}

TlsServer::~TlsServer()
{
    ::shutdown(impl_->fd, SHUT_RDWR);
    impl_->acceptor.join();
    for (Connection &connection : impl_->open)
        connection.abort();
    impl_->threads.clear(); // joins
    ::close(impl_->fd);
    std::error_code ignored;
    std::filesystem::remove_all(impl_->folder, ignored);
}

HttpEndpoint TlsServer::endpoint() const
{
    return {"https://127.0.0.1:" + std::to_string(impl_->port),
            impl_->folder + "/ca.crt", impl_->folder + "/token"};
}

void TlsServer::write_token(std::string_view text)
{
    std::ofstream(impl_->folder + "/token") << text;
}

std::string TlsServer::folder() const
{
    return impl_->folder;
}

std::vector<TlsServer::Request> TlsServer::requests() const
{
    std::lock_guard lock(impl_->mutex);
    return impl_->requests;
}

int TlsServer::connections() const
{
    return impl_->connections;
}

} // namespace bridge
