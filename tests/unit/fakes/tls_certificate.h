// SPDX-License-Identifier: GPL-2.0-or-later
// A key and a certificate for 127.0.0.1 that signs itself, for tests.
#pragma once

#include <memory>
#include <openssl/ssl.h>
#include <string>

namespace bridge {

template <auto free_it> struct SslFree {
    template <class T> void operator()(T *object) const { free_it(object); }
};
using SslContext = std::unique_ptr<SSL_CTX, SslFree<SSL_CTX_free>>;
using SslConnection = std::unique_ptr<SSL, SslFree<SSL_free>>;

// A server's context; its certificate is written to ca_file. Null on failure.
SslContext make_server_context(const std::string &ca_file);

// The same as PEM files; the key is its owner's alone. False on failure.
bool make_server_files(const std::string &certificate_file,
                       const std::string &key_file);

} // namespace bridge
