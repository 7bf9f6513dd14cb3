// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/endpoint.h"

#include "common/contract/names.h"
#include "common/kube/endpoint.h"

namespace bridge {

Result<HttpEndpoint> endpoint_of(const Conf &conf)
{
    auto endpoint = find_endpoint(conf.kube_api_server, conf.kube_ca_file,
                                  conf.kube_token_file);
    if (!endpoint)
        return fail(
            Code::rejected,
            "k8s.conf has no KubeApiServer, and this process runs in no Pod");
    endpoint->user_agent = names::manager;
    return endpoint;
}

} // namespace bridge
