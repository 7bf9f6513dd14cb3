// SPDX-License-Identifier: GPL-2.0-or-later
// What KubeApi makes for batch jobs, and takes away again.
#include "agent/kube_api.h"

#include "agent/kube_bodies.h"
#include "agent/kube_status.h"

namespace bridge {

namespace {

std::string secrets_path(const std::string &ns)
{
    return "/api/v1/namespaces/" + url_encode(ns) + "/secrets";
}

} // namespace

Result<Pod> KubeApi::create_pod(const std::string &ns, const std::string &body)
{
    std::string what = "create a Pod in " + ns;
    auto json = object_in(http_.post(pods_path(ns), body), what);
    if (!json)
        return std::unexpected(json.error());
    return pod_from(*json);
}

Result<> KubeApi::try_pod(const std::string &ns, const std::string &body)
{
    std::string what = "try a Pod in " + ns;
    auto reply = http_.post(pods_path(ns) + "?dryRun=All", body);
    if (!reply)
        return fail(reply.error(), what);
    auto said = check_status(*reply);
    // Its name is looked at last.
    if (!said && said.error().code != Code::conflict)
        return fail(said.error(), what);
    return {};
}

Result<> KubeApi::put_secret(const ObjectKey &key, const std::string &body)
{
    std::string what = "create Secret=" + key.str();
    for (bool again : {true, false}) {
        auto reply = http_.post(secrets_path(key.ns), body);
        if (!reply)
            return fail(reply.error(), what);
        auto said = check_status(*reply);
        if (said)
            return {};
        if (said.error().code != Code::conflict || !again)
            return fail(said.error(), what);
        if (auto gone = delete_secret(key); !gone)
            return gone;
    }
    return {};
}

Result<> KubeApi::delete_secret(const ObjectKey &key)
{
    std::string what = "delete Secret=" + key.str();
    auto reply =
        http_.remove(secrets_path(key.ns) + "/" + url_encode(key.name), "");
    if (!reply)
        return fail(reply.error(), what);
    auto said = check_status(*reply);
    if (!said && said.error().code != Code::not_found)
        return fail(said.error(), what);
    return {};
}

} // namespace bridge
