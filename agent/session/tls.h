// SPDX-License-Identifier: GPL-2.0-or-later
// TLS for users' sessions: version 1.3 only, since both sides are ours. The
// server has a certificate, which the client always verifies against the only
// CA that k8s.conf names. No certificate identifies the user
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

// Both files are PEM. Code::denied when one cannot be used, or when anyone but
// its owner may read the key.
Result<TlsContext> server_tls(const std::string &certificate,
                              const std::string &key);

// The file is PEM, with the trusted CAs; no others are trusted. Code::denied
// when it cannot be used.
Result<TlsContext> client_tls(const std::string &ca_file);

// Make a connection on a socket; the handshake comes later. Code::internal when
// memory is short. host is a name or an IP address that the server's
// certificate must have.
Result<TlsConnection> accept_tls(SSL_CTX &context, int fd);
Result<TlsConnection> connect_tls(SSL_CTX &context, int fd,
                                  const std::string &host);

// Returns OpenSSL's last error message and clears its error queue.
std::string tls_error();

} // namespace bridge
