// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/controller_pod.h"

#include "common/contract/worker_names.h"
#include "operator/decide/daemon_pod.h"
#include "operator/decide/json_merge.h"
#include "operator/decide/metadata.h"

#include <utility>

namespace bridge::slinky {

namespace {

constexpr char slurmctld[] = "slurmctld"; // container, port, and app
constexpr char agent[] = "slurmk8sd";
constexpr char state_volume[] = "statesave"; // as slurm-operator names it

constexpr char state_dir[] = "/var/spool/slurmctld";
constexpr char token_dir[] = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr std::int64_t token_seconds = 3607; // as kubelets ask for it

JsonValue probe(const char *path, int seconds, int failures)
{
    return JsonValue::object(
        {{"httpGet", JsonValue::object({{"path", path}, {"port", slurmctld}})},
         {"periodSeconds", seconds},
         {"failureThreshold", failures}});
}

JsonValue::Array shared_mounts()
{
    return {mount("slurm-etc", "/etc/slurm", true),
            mount("run-slurmctld", "/run/slurmctld"),
            mount("run-slurmk8s", "/run/slurmk8s"),
            mount(state_volume, state_dir)};
}

std::string slurmctld_container(const Controller &controller)
{
    auto ours = JsonValue::object(
        {{"command", JsonValue::array({"/usr/sbin/slurmctld"})},
         {"args", JsonValue::array({"-D"})},
         {"ports", JsonValue::array({port_json(slurmctld, slurmctld_port)})},
         {"volumeMounts", JsonValue::array(shared_mounts())},
         {"startupProbe", probe("/livez", 2, 30)},
         {"livenessProbe", probe("/livez", 10, 6)},
         {"readinessProbe", probe("/readyz", 3, 5)},
         {"securityContext", container_security()}});
    return container_json(slurmctld, ours, controller.spec.at("slurmctld"));
}

// It alone has a token.
std::string agent_container(const Controller &controller,
                            const std::string &image)
{
    auto mounts = shared_mounts();
    mounts.push_back(mount("agent-token", token_dir, true));
    std::string policy = controller.spec.text("slurmctld/imagePullPolicy");
    auto ours = JsonValue::object(
        {{"image", image},
         {"command", JsonValue::array({"/usr/sbin/slurmk8sd"})},
         {"volumeMounts", JsonValue::array(std::move(mounts))},
         {"securityContext", container_security()}});
    if (!policy.empty())
        ours.add("imagePullPolicy", policy);
    return container_json(agent, ours, {});
}

JsonValue config_source(const char *kind, const std::string &name)
{
    return JsonValue::object({{kind, JsonValue::object({{"name", name}})}});
}

// What comes later wins over what has the same file name: a file of the site
// over one of ours.
JsonValue etc_volume(const Controller &controller)
{
    JsonValue::Array sources{config_source("configMap", conf_name(controller))};
    for (const Json &ref : controller.spec.items("configFileRefs"))
        sources.push_back(config_source("configMap", ref.text("name")));
    for (JsonValue &source : key_sources(controller.spec))
        sources.push_back(std::move(source));
    auto projected =
        JsonValue::object({{"sources", JsonValue::array(std::move(sources))}});
    return JsonValue::object(
        {{"name", "slurm-etc"}, {"projected", std::move(projected)}});
}

JsonValue token_volume()
{
    auto token = JsonValue::object(
        {{"path", "token"}, {"expirationSeconds", token_seconds}});
    auto ca = JsonValue::object(
        {{"name", "kube-root-ca.crt"},
         {"items", JsonValue::array({JsonValue::object(
                       {{"key", "ca.crt"}, {"path", "ca.crt"}})})}});
    auto sources = JsonValue::array(
        {JsonValue::object({{"serviceAccountToken", std::move(token)}}),
         JsonValue::object({{"configMap", std::move(ca)}})});
    return JsonValue::object(
        {{"name", "agent-token"},
         {"projected", JsonValue::object({{"sources", std::move(sources)}})}});
}

bool is_persistent(const Controller &controller)
{
    Json said = controller.spec.at("persistence/enabled");
    return !said.present() || said.flag();
}

// The state volume, where no claim is made for it.
void add_state_volume(const Controller &controller, JsonValue::Array &volumes)
{
    std::string claim = controller.spec.text("persistence/existingClaim");
    if (!is_persistent(controller))
        volumes.push_back(empty_volume(state_volume));
    else if (!claim.empty())
        volumes.push_back(
            JsonValue::object({{"name", state_volume},
                               {"persistentVolumeClaim",
                                JsonValue::object({{"claimName", claim}})}}));
}

std::string pod_spec(const Known &known, const Controller &controller)
{
    std::string image = agent_image(known, controller);
    JsonValue::Array volumes{etc_volume(controller),
                             empty_volume("run-slurmctld"),
                             empty_volume("run-slurmk8s")};
    std::vector<std::string> containers{slurmctld_container(controller)};
    if (!image.empty()) {
        volumes.push_back(token_volume());
        containers.push_back(agent_container(controller, image));
    }
    add_state_volume(controller, volumes);
    auto ours =
        JsonValue::object({{"enableServiceLinks", false},
                           {"securityContext", pod_security()},
                           {"volumes", JsonValue::array(std::move(volumes))}});
    return daemon_spec(
        read_own(ours.dump()), containers, controller.spec.at("template/spec"),
        image.empty() ? std::string()
                      : controller_service(controller.meta.key.name));
}

// The claim of the state, whose members are those of a claim's spec.
std::string claims(const Controller &controller)
{
    Json said = controller.spec.at("persistence");
    if (!is_persistent(controller) || !said.text("existingClaim").empty())
        return "[]";
    JsonMembers spec;
    for (const auto &[name, value] : said.members())
        if (name != "enabled" && name != "existingClaim")
            put(spec, name, value.dump());
    if (said.items("accessModes").empty())
        put(spec, "accessModes", R"(["ReadWriteOncePod"])");
    if (!said.at("resources/requests").present())
        put(spec, "resources", R"({"requests":{"storage":"4Gi"}})");
    auto metadata = JsonValue::object({{"name", state_volume}});
    return json_array({json_object(
        {{"metadata", metadata.dump()}, {"spec", json_object(spec)}})});
}

} // namespace

std::string conf_name(const Controller &controller)
{
    return controller.meta.key.name + "-config";
}

std::string agent_image(const Known &known, const Controller &controller)
{
    auto said = controller.meta.annotations.find(names::agent_image_annotation);
    return said == controller.meta.annotations.end() ? known.agent_image
                                                     : said->second;
}

bool loads_plugins(const Controller &controller)
{
    auto said = controller.meta.annotations.find(names::plugins_annotation);
    return said != controller.meta.annotations.end() && said->second == "true";
}

TextMap controller_selector(const Controller &controller)
{
    return {{names::app_label, slurmctld},
            {names::instance_label, controller.meta.key.name}};
}

TextMap controller_labels(const Controller &controller)
{
    TextMap labels = controller_selector(controller);
    labels[names::component_label] = "controller";
    labels[names::cluster_label] = controller.meta.key.name;
    return labels;
}

Wanted controller_set(const Known &known, const Controller &controller,
                      const std::string &hash)
{
    auto selector = JsonValue::object(
        {{"matchLabels", texts_json(controller_selector(controller))}});
    auto metadata = daemon_metadata(
        controller.spec.at("template/metadata"), controller_labels(controller),
        {{names::config_hash_annotation, hash},
         {"kubectl.kubernetes.io/default-container", slurmctld}});
    std::string service = controller_service(controller.meta.key.name);
    std::string made = json_object(
        {{"replicas", "1"},
         {"revisionHistoryLimit", "0"},
         {"serviceName", JsonValue(service + "-internal").dump()},
         {"selector", selector.dump()},
         {"template", json_object({{"metadata", metadata.dump()},
                                   {"spec", pod_spec(known, controller)}})},
         {"volumeClaimTemplates", claims(controller)}});
    return {"StatefulSet",
            service,
            controller_labels(controller),
            {},
            {{"spec", std::move(made)}}};
}

} // namespace bridge::slinky
