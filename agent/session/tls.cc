// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/session/tls.h"

#include "common/base/system_error.h"

#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

namespace bridge {

namespace {

constexpr mode_t for_others = 077;

Result<TlsContext> make_context(const SSL_METHOD *method)
{
    TlsContext context(SSL_CTX_new(method));
    if (!context ||
        !SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION))
        return fail(Code::internal, "TLS does not start: " + tls_error());
    // Unsent data may be offered again from another place in memory.
    SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return context;
}

Result<> check_key_file(const std::string &path)
{
    struct stat facts{};
    if (stat(path.c_str(), &facts) != 0)
        return fail_errno(Code::denied, path);
    if (facts.st_mode & for_others)
        return fail(Code::denied,
                    path + " may be read by others than its owner");
    return {};
}

bool is_ip_address(const std::string &host)
{
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
           inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

bool expect_host(SSL &connection, const std::string &host)
{
    if (is_ip_address(host))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(&connection),
                                             host.c_str()) == 1;
    SSL_set_hostflags(&connection, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(&connection, host.c_str()) == 1 &&
           SSL_ctrl(&connection, SSL_CTRL_SET_TLSEXT_HOSTNAME,
                    TLSEXT_NAMETYPE_host_name,
                    const_cast<char *>(host.c_str())) == 1;
}

} // namespace

Result<TlsContext> server_tls(const std::string &certificate,
                              const std::string &key)
{
    if (auto good = check_key_file(key); !good)
        return std::unexpected(good.error());
    auto context = make_context(TLS_server_method());
    if (!context)
        return context;
    if (SSL_CTX_use_certificate_chain_file(context->get(),
                                           certificate.c_str()) != 1)
        return fail(Code::denied, certificate + ": " + tls_error());
    if (SSL_CTX_use_PrivateKey_file(context->get(), key.c_str(),
                                    SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context->get()) != 1)
        return fail(Code::denied, key + ": " + tls_error());
    SSL_CTX_set_session_cache_mode(context->get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context->get(), 0);
    return context;
}

Result<TlsContext> client_tls(const std::string &ca_file)
{
    auto context = make_context(TLS_client_method());
    if (!context)
        return context;
    if (SSL_CTX_load_verify_file(context->get(), ca_file.c_str()) != 1)
        return fail(Code::denied, ca_file + ": " + tls_error());
    SSL_CTX_set_verify(context->get(), SSL_VERIFY_PEER, nullptr);
    return context;
}

Result<TlsConnection> accept_tls(SSL_CTX &context, int fd)
{
    TlsConnection connection(SSL_new(&context));
    if (!connection || SSL_set_fd(connection.get(), fd) != 1)
        return fail(Code::internal, tls_error());
    SSL_set_accept_state(connection.get());
    return connection;
}

Result<TlsConnection> connect_tls(SSL_CTX &context, int fd,
                                  const std::string &host)
{
    TlsConnection connection(SSL_new(&context));
    if (!connection || SSL_set_fd(connection.get(), fd) != 1 ||
        !expect_host(*connection, host))
        return fail(Code::internal, tls_error());
    SSL_set_connect_state(connection.get());
    return connection;
}

std::string tls_error()
{
    std::array<char, 256> text{};
    unsigned long last = ERR_peek_last_error();
    ERR_clear_error();
    if (last == 0)
        return "OpenSSL gives no reason";
    ERR_error_string_n(last, text.data(), text.size());
    return text.data();
}

} // namespace bridge
