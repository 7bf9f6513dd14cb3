// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/endpoint.h"

#include <cstdlib>

namespace bridge {

namespace {

constexpr char account_dir[] = "/var/run/secrets/kubernetes.io/serviceaccount/";

std::string environment(const char *name)
{
    const char *value = std::getenv(name);
    return value ? value : "";
}

std::string server_of_pod()
{
    std::string host = environment("KUBERNETES_SERVICE_HOST");
    std::string port = environment("KUBERNETES_SERVICE_PORT");
    if (host.empty() || port.empty())
        return {};
    if (host.contains(':')) // an IPv6 address
        host = "[" + host + "]";
    return "https://" + host + ":" + port;
}

} // namespace

Result<HttpEndpoint> find_endpoint(const std::string &server,
                                   const std::string &ca_file,
                                   const std::string &token_file)
{
    auto or_of_pod = [](const std::string &file, const char *name) {
        return file.empty() ? std::string(account_dir) + name : file;
    };
    HttpEndpoint endpoint;
    endpoint.server = server.empty() ? server_of_pod() : server;
    if (endpoint.server.empty())
        return fail(Code::not_found,
                    "no API server is configured, and this process runs in no "
                    "Pod");
    endpoint.ca_file = or_of_pod(ca_file, "ca.crt");
    endpoint.token_file = or_of_pod(token_file, "token");
    return endpoint;
}

} // namespace bridge
