// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/daemon_pod.h"

#include "common/base/json_text.h"
#include "operator/decide/json_merge.h"
#include "operator/decide/jwks.h"
#include "operator/decide/metadata.h"

#include <utility>

namespace bridge::slinky {

namespace {

constexpr int key_mode = 0440; // root's, and the group's

void add_key(JsonValue::Array &sources, const SecretKey &from, const char *file)
{
    if (from.secret.empty() || from.key.empty())
        return;
    auto item = JsonValue::object(
        {{"key", from.key}, {"path", file}, {"mode", key_mode}});
    sources.push_back(JsonValue::object(
        {{"secret", JsonValue::object(
                        {{"name", from.secret},
                         {"items", JsonValue::array({std::move(item)})}})}}));
}

SecretKey secret_key(const Json &spec, const std::string &ref)
{
    return {spec.text(ref + "/name"), spec.text(ref + "/key")};
}

} // namespace

SecretKey jwt_key(const Json &spec)
{
    SecretKey found = secret_key(spec, "jwtKeyRef");
    return found.secret.empty() ? secret_key(spec, "jwtHs256KeyRef") : found;
}

JsonValue::Array key_sources(const Json &spec)
{
    JsonValue::Array sources;
    add_key(sources, secret_key(spec, "slurmKeyRef"), "slurm.key");
    add_key(sources, jwt_key(spec), "jwt.key");
    return sources;
}

std::string auth_alt_line(const Json &spec)
{
    std::string line = "AuthAltParameters=jwt_key=/etc/slurm/jwt.key";
    if (names_jwks(spec))
        line += std::string(",jwks=/etc/slurm/") + jwks_file;
    return line + "\n";
}

JsonValue mount(const char *volume, const char *path, bool read_only)
{
    auto made = JsonValue::object({{"name", volume}, {"mountPath", path}});
    if (read_only)
        made.add("readOnly", true);
    return made;
}

JsonValue empty_volume(const char *name)
{
    return JsonValue::object(
        {{"name", name}, {"emptyDir", JsonValue::object({})}});
}

JsonValue port_json(const char *name, std::int64_t port)
{
    return JsonValue::object(
        {{"name", name}, {"containerPort", port}, {"protocol", "TCP"}});
}

JsonValue container_security()
{
    return JsonValue::object(
        {{"runAsNonRoot", true},
         {"allowPrivilegeEscalation", false},
         {"capabilities",
          JsonValue::object({{"drop", JsonValue::array({"ALL"})}})},
         {"seccompProfile", JsonValue::object({{"type", "RuntimeDefault"}})}});
}

JsonValue pod_security()
{
    return JsonValue::object({{"runAsNonRoot", true},
                              {"fsGroup", slurm_group},
                              {"fsGroupChangePolicy", "OnRootMismatch"}});
}

std::string container_json(const char *name, const JsonValue &ours,
                           const Json &theirs)
{
    JsonMembers members =
        members_of(read_own(merged(read_own(ours.dump()), theirs)));
    put(members, "name", JsonValue(name).dump());
    return json_object(members);
}

std::string daemon_spec(const Json &ours,
                        const std::vector<std::string> &containers,
                        const Json &theirs, const std::string &account)
{
    JsonMembers with = members_of(ours);
    put(with, "containers", json_array(containers));
    std::string spec = merged(read_own(json_object(with)), theirs);
    JsonMembers made = members_of(read_own(spec));
    put(made, "automountServiceAccountToken", "false");
    if (!account.empty())
        put(made, "serviceAccountName", JsonValue(account).dump());
    drop(made, "nodeName"); // the scheduler's
    drop(made, "hostname"); // SlurmctldHost and DbdHost name the Pod
    return json_object(made);
}

JsonValue daemon_metadata(const Json &theirs, const TextMap &labels,
                          const TextMap &annotations)
{
    TextMap all_labels = theirs.texts("labels");
    for (const auto &[name, value] : labels)
        all_labels[name] = value;
    TextMap all_annotations = theirs.texts("annotations");
    for (const auto &[name, value] : annotations)
        all_annotations[name] = value;
    return JsonValue::object({{"labels", texts_json(all_labels)},
                              {"annotations", texts_json(all_annotations)}});
}

} // namespace bridge::slinky
