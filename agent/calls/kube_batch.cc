// SPDX-License-Identifier: GPL-2.0-or-later
// The objects that KubeApi creates and deletes for batch jobs.
#include "agent/calls/kube_api.h"

#include "agent/calls/kube_bodies.h"
#include "common/kube/status.h"

#include <utility>

namespace bridge {

namespace {

std::string path_of(const std::string &ns, const char *resource)
{
    return "/api/v1/namespaces/" + url_encode(ns) + "/" + resource;
}

std::string path_of(const ObjectKey &key, const char *resource)
{
    return path_of(key.ns, resource) + "/" + url_encode(key.name);
}

std::string secrets_path(const std::string &ns)
{
    return path_of(ns, "secrets");
}

// 401 concerns the token and not the request: it becomes Code::busy.
Result<HttpReply> known(Result<HttpReply> reply)
{
    constexpr long unauthorized = 401;
    if (!reply || reply->status != unauthorized)
        return reply;
    Error error = check_status(*reply).error();
    error.code = Code::busy;
    return std::unexpected(std::move(error));
}

} // namespace

Result<Pod> KubeApi::create_pod(const std::string &ns, const std::string &body)
{
    std::string what = "create a Pod in " + ns;
    auto json =
        object_in(http_.post(Write::create_pod, pods_path(ns), body), what);
    if (!json)
        return std::unexpected(json.error());
    return pod_from(*json);
}

Result<> KubeApi::try_pod(const std::string &ns, const std::string &body)
{
    std::string what = "try a Pod in " + ns;
    auto reply = http_.try_post(pods_path(ns), body);
    if (!reply)
        return fail(reply.error(), what);
    auto said = check_status(*reply);
    // The server checks the name last.
    if (!said && said.error().code != Code::conflict)
        return fail(said.error(), what);
    return {};
}

Result<> KubeApi::put_secret(const ObjectKey &key, const std::string &body)
{
    std::string what = "create Secret=" + key.str();
    for (bool again : {true, false}) {
        auto reply = http_.post(Write::put_secret, secrets_path(key.ns), body);
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
        http_.remove(Write::delete_secret, path_of(key, "secrets"), "");
    if (!reply)
        return fail(reply.error(), what);
    auto said = check_status(*reply);
    if (!said && said.error().code != Code::not_found)
        return fail(said.error(), what);
    return {};
}

// Creates an object that a job can do without if it is denied.
Result<> KubeApi::create_named(Write write, const char *resource,
                               const ObjectKey &key, const std::string &body)
{
    std::string what = std::string("create ") + resource + " " + key.str();
    auto reply = known(http_.post(write, path_of(key.ns, resource), body));
    if (!reply)
        return fail(reply.error(), what);
    if (auto said = check_status(*reply); !said)
        return fail(said.error(), what);
    return {};
}

Result<Json> KubeApi::get_named(const char *resource, const ObjectKey &key)
{
    return object_in(known(http_.get(path_of(key, resource))),
                     std::string("get ") + resource + " " + key.str());
}

Result<> KubeApi::create_service(const ObjectKey &key, const std::string &body)
{
    return create_named(Write::create_service, "services", key, body);
}

Result<> KubeApi::create_config_map(const ObjectKey &key,
                                    const std::string &body)
{
    return create_named(Write::create_config_map, "configmaps", key, body);
}

Result<Json> KubeApi::get_service(const ObjectKey &key)
{
    return get_named("services", key);
}

Result<Json> KubeApi::get_config_map(const ObjectKey &key)
{
    return get_named("configmaps", key);
}

Result<std::string> KubeApi::get_config_map_uid(const ObjectKey &key)
{
    auto map = object_in(known(http_.get_metadata(path_of(key, "configmaps"))),
                         "get the uid of ConfigMap=" + key.str());
    if (!map)
        return std::unexpected(map.error());
    return map->text("metadata/uid");
}

Result<TextMap> KubeApi::addresses_of(const std::string &ns,
                                      const std::string &label,
                                      const std::string &value)
{
    TextMap found;
    auto done = for_each_pod(
        ns, "&labelSelector=" + url_encode(label + "=" + value),
        "list the addresses of " + ns + "/" + value, [&](const Json &pod) {
            if (std::string ip = pod.text("status/podIP"); !ip.empty())
                found[pod.text("metadata/uid")] = std::move(ip);
        });
    if (!done)
        return std::unexpected(done.error());
    return found;
}

} // namespace bridge
