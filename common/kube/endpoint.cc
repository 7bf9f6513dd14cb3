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

Result<HttpEndpoint> endpoint_of(const Conf &conf)
{
    HttpEndpoint endpoint;
    endpoint.server = conf.kube_api_server.empty() ? server_of_pod()
                                                   : conf.kube_api_server;
    if (endpoint.server.empty())
        return fail(Code::rejected,
                    "k8s.conf has no KubeApiServer, and this is no Pod");
    endpoint.ca_file = conf.kube_ca_file.empty()
                           ? std::string(account_dir) + "ca.crt"
                           : conf.kube_ca_file;
    endpoint.token_file = conf.kube_token_file.empty()
                              ? std::string(account_dir) + "token"
                              : conf.kube_token_file;
    return endpoint;
}

} // namespace bridge
