// SPDX-License-Identifier: GPL-2.0-or-later
// KubeApi's requests for ResourceClaims, and for their names in Pod statuses.
#include "agent/calls/kube_api.h"

#include "agent/calls/kube_bodies.h"
#include "common/kube/status.h"
#include "common/kube/text.h"

namespace bridge {

namespace {

std::string claims_path(const std::string &ns)
{
    return "/apis/resource.k8s.io/v1/namespaces/" + ns + "/resourceclaims";
}

std::string claim_path(const ObjectKey &key)
{
    return claims_path(key.ns) + "/" + key.name;
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
    return claim_in(http_.put(Write::write_claim, claim_path(key), body),
                    "put it");
}

Result<ClaimText> KubeApi::write_claim_status(const ObjectKey &key,
                                              const std::string &body)
{
    return claim_in(
        http_.put(Write::write_claim_status, claim_path(key) + "/status", body),
        "put it");
}

Result<ClaimText> KubeApi::create_claim(const std::string &ns,
                                        const std::string &body)
{
    return claim_in(http_.post(Write::create_claim, claims_path(ns), body),
                    "create a ResourceClaim in " + ns);
}

// 409 means that the precondition failed: another claim has the name.
Result<> KubeApi::delete_claim(const ObjectKey &key, const std::string &uid)
{
    std::string what = "delete ResourceClaim=" + key.str();
    auto reply = http_.remove(Write::delete_claim, claim_path(key),
                              delete_options_body(uid));
    if (!reply)
        return fail(reply.error(), what);
    auto said = check_status(*reply);
    if (said || said.error().code == Code::not_found ||
        said.error().code == Code::conflict)
        return {};
    return fail(said.error(), what);
}

Result<bool> KubeApi::set_extended_claim(const Pod &pod,
                                         const ExtendedClaimStatus &status)
{
    std::string what =
        "set extendedResourceClaimStatus of Pod=" + pod.key.str();
    auto reply =
        http_.patch(Write::set_extended_claim, pod_path(pod.key) + "/status",
                    "application/strategic-merge-patch+json",
                    extended_claim_body(pod, status));
    if (reply && is_uid_mismatch(reply->status, reply->body))
        return fail(Code::conflict, what + ": another Pod has this name");
    auto json = object_in(reply, what);
    if (!json)
        return std::unexpected(json.error());
    return pod_from(*json).extended_claim == status.claim;
}

} // namespace bridge
