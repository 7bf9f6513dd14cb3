// SPDX-License-Identifier: GPL-2.0-or-later
// TLS for sessions of users: 1.3 alone, both ends are ours. The server has a
// certificate, and the client always verifies it, by the one authority that
// k8s.conf names; who the user is, no certificate says
// (common/contract/login_dir.h).
#pragma once

#include "common/base/result.h"

#include <memory>
#include <openssl/ssl.h>
#include <string>

namespace bridge {

template <auto free_it> struct TlsFree {
    template <class T> void operator()(T *object) const { free_it(object); }
};
using TlsContext = std::unique_ptr<SSL_CTX, TlsFree<SSL_CTX_free>>;
using TlsConnection = std::unique_ptr<SSL, TlsFree<SSL_free>>;

// PEM files. Code::denied where one cannot be used, or where others than their
// owner may read the key.
Result<TlsContext> server_tls(const std::string &certificate,
                              const std::string &key);

// PEM, of the authorities that are trusted, and no others.
Result<TlsContext> client_tls(const std::string &ca_file);

// Code::internal without memory. The host, a name or an IP address, is the one
// that the certificate must have.
Result<TlsConnection> accept_tls(SSL_CTX &context, int fd);
Result<TlsConnection> connect_tls(SSL_CTX &context, int fd,
                                  const std::string &host);

// What OpenSSL says last, in its words; forgets all of it.
std::string tls_error();

} // namespace bridge
