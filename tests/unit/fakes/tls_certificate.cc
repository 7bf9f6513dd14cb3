// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/fakes/tls_certificate.h"

#include <cstdio>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

namespace bridge {

namespace {

using Key = std::unique_ptr<EVP_PKEY, SslFree<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, SslFree<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, SslFree<X509_EXTENSION_free>>;

void add_extension(X509 *certificate, int id, const char *value)
{
    Extension extension(X509V3_EXT_conf_nid(nullptr, nullptr, id, value));
    if (extension)
        X509_add_ext(certificate, extension.get(), -1);
}

Certificate self_signed(EVP_PKEY *key)
{
    Certificate certificate(X509_new());
    X509 *raw = certificate.get();
    X509_set_version(raw, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(raw), 1);
    X509_gmtime_adj(X509_getm_notBefore(raw), -3600);
    X509_gmtime_adj(X509_getm_notAfter(raw), 3600);
    X509_set_pubkey(raw, key);
    X509_NAME *name = X509_NAME_new();
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char *>("test"),
                               -1, -1, 0);
    X509_set_subject_name(raw, name);
    X509_set_issuer_name(raw, name);
    X509_NAME_free(name);
    add_extension(raw, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(raw, NID_subject_alt_name, "IP:127.0.0.1");
    X509_sign(raw, key, EVP_sha256());
    return certificate;
}

bool write_pem(const std::string &path, X509 *certificate)
{
    std::FILE *file = std::fopen(path.c_str(), "w");
    if (!file)
        return false;
    bool written = PEM_write_X509(file, certificate) == 1;
    return std::fclose(file) == 0 && written;
}

} // namespace

SslContext make_server_context(const std::string &ca_file)
{
    Key key(EVP_EC_gen("P-256"));
    SslContext context(SSL_CTX_new(TLS_server_method()));
    if (!key || !context)
        return nullptr;
    Certificate certificate = self_signed(key.get());
    if (SSL_CTX_use_certificate(context.get(), certificate.get()) != 1 ||
        SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1 ||
        !write_pem(ca_file, certificate.get()))
        return nullptr;
    return context;
}

bool make_server_files(const std::string &certificate_file,
                       const std::string &key_file)
{
    Key key(EVP_EC_gen("P-256"));
    if (!key || !write_pem(certificate_file, self_signed(key.get()).get()))
        return false;
    std::FILE *file = std::fopen(key_file.c_str(), "w");
    if (!file)
        return false;
    bool written = PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0,
                                        nullptr, nullptr) == 1;
    return std::fclose(file) == 0 && written &&
           chmod(key_file.c_str(), 0600) == 0;
}

} // namespace bridge
