// SPDX-License-Identifier: GPL-2.0-or-later
// What KubeApi reads and writes of ResourceClaims.
#include "agent/kube_api.h"

#include "agent/kube_status.h"
#include "agent/kube_text.h"

namespace bridge {

namespace {

std::string claim_path(const ObjectKey &key)
{
    return "/apis/resource.k8s.io/v1/namespaces/" + key.ns +
           "/resourceclaims/" + key.name;
}

Result<ClaimText> claim_in(const Result<HttpReply> &reply,
                           const std::string &what)
{
    auto json = object_in(reply, what);
    if (!json)
        return std::unexpected(json.error());
    return ClaimText{resource_claim_from(*json, reply->body), reply->body};
}

} // namespace

Result<ClaimText> KubeApi::read_claim(const ObjectKey &key)
{
    if (!is_object_name(key.name))
        return fail(Code::not_found, "no ResourceClaim has this name");
    return claim_in(http_.get(claim_path(key)), "get it");
}

Result<ClaimText> KubeApi::write_claim(const ObjectKey &key,
                                       const std::string &body)
{
    return claim_in(http_.put(claim_path(key), body), "put it");
}

Result<ClaimText> KubeApi::write_claim_status(const ObjectKey &key,
                                              const std::string &body)
{
    return claim_in(http_.put(claim_path(key) + "/status", body), "put it");
}

} // namespace bridge
