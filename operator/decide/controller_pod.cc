// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/controller_pod.h"

#include "common/contract/worker_names.h"
#include "operator/decide/daemon_pod.h"
#include "operator/decide/json_merge.h"
#include "operator/decide/metadata.h"

#include <utility>

namespace bridge::slinky {

namespace {

constexpr const char *slurmctld = slurmctld_app; // container and port, too
constexpr const char *agent = slurmk8sd_app;
constexpr char state_volume[] = "statesave"; // as slurm-operator names it

constexpr char state_dir[] = "/var/spool/slurmctld";
constexpr char token_dir[] = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr std::int64_t token_seconds = 3607; // as kubelets ask for it
constexpr int script_mode = 0755;            // files of the site can be scripts
constexpr int key_mode = 0440;

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

// Its last words are those of its log, should it end with an error.
JsonValue slurmctld_base()
{
    return JsonValue::object(
        {{"command", JsonValue::array({"/usr/sbin/slurmctld"})},
         {"args", JsonValue::array({"-D"})},
         {"ports", JsonValue::array({port_json(slurmctld, slurmctld_port)})},
         {"volumeMounts", JsonValue::array(shared_mounts())},
         {"terminationMessagePolicy", "FallbackToLogsOnError"},
         {"securityContext", container_security()}});
}

std::string slurmctld_container(const Controller &controller)
{
    auto ours = slurmctld_base();
    ours.add("startupProbe", probe("/livez", 2, 30));
    ours.add("livenessProbe", probe("/livez", 10, 6));
    ours.add("readinessProbe", probe("/readyz", 3, 5));
    return container_json(slurmctld, ours, controller.spec.at("slurmctld"));
}

// It takes little for a moment, whatever the other one has. A quota may want
// all of these.
JsonValue trial_resources()
{
    return JsonValue::object(
        {{"requests", JsonValue::object({{"cpu", "10m"}, {"memory", "64Mi"}})},
         {"limits", JsonValue::object({{"cpu", "2"}, {"memory", "4Gi"}})}});
}

std::string trial_container(const Controller &controller)
{
    auto ours = slurmctld_base();
    ours.add("readinessProbe", probe("/readyz", 1, 600));
    JsonMembers made = members_of(read_own(
        container_json(slurmctld, ours, controller.spec.at("slurmctld"))));
    put(made, "resources", trial_resources().dump());
    drop(made, "startupProbe");
    drop(made, "livenessProbe");
    return json_object(made);
}

JsonValue own_field(const char *name, const char *path)
{
    return JsonValue::object(
        {{"name", name},
         {"valueFrom",
          JsonValue::object(
              {{"fieldRef", JsonValue::object({{"fieldPath", path}})}})}});
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
         {"env", JsonValue::array(
                     {own_field(names::pod_name_variable, "metadata.name"),
                      own_field(names::pod_uid_variable, "metadata.uid")})},
         {"volumeMounts", JsonValue::array(std::move(mounts))},
         {"securityContext", container_security()}});
    if (!policy.empty())
        ours.add("imagePullPolicy", policy);
    return container_json(agent, ours, {});
}

JsonValue etc_volume(JsonValue::Array sources)
{
    auto projected =
        JsonValue::object({{"defaultMode", script_mode},
                           {"sources", JsonValue::array(std::move(sources))}});
    return JsonValue::object(
        {{"name", "slurm-etc"}, {"projected", std::move(projected)}});
}

JsonValue config_source(const std::string &name)
{
    return JsonValue::object(
        {{"configMap", JsonValue::object({{"name", name}})}});
}

// What comes later wins over what has the same file name: the keys.
JsonValue live_etc(const Controller &controller)
{
    JsonValue::Array sources{config_source(conf_name(controller))};
    for (JsonValue &source : key_sources(controller.spec))
        sources.push_back(std::move(source));
    return etc_volume(std::move(sources));
}

// Its keys are in the same ConfigMap. slurmctld takes none that all may read.
JsonValue trial_etc(const std::string &conf)
{
    JsonValue::Array keys;
    for (const char *key : {"slurm.key", "jwt.key"})
        keys.push_back(JsonValue::object(
            {{"key", key}, {"path", key}, {"mode", key_mode}}));
    auto only_keys = JsonValue::object(
        {{"name", conf}, {"items", JsonValue::array(std::move(keys))}});
    return etc_volume(
        {config_source(conf),
         JsonValue::object({{"configMap", std::move(only_keys)}})});
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

JsonValue pod_base(JsonValue::Array volumes)
{
    return JsonValue::object(
        {{"enableServiceLinks", false},
         {"securityContext", pod_security()},
         {"volumes", JsonValue::array(std::move(volumes))}});
}

std::string pod_spec(const Known &known, const Controller &controller)
{
    std::string image = agent_image(known, controller);
    JsonValue::Array volumes{live_etc(controller),
                             empty_volume("run-slurmctld"),
                             empty_volume("run-slurmk8s")};
    std::vector<std::string> containers{slurmctld_container(controller)};
    if (!image.empty()) {
        volumes.push_back(token_volume());
        containers.push_back(agent_container(controller, image));
    }
    add_state_volume(controller, volumes);
    return daemon_spec(read_own(pod_base(std::move(volumes)).dump()),
                       containers, controller.spec.at("template/spec"),
                       image.empty()
                           ? std::string()
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

std::string controller_pod_name(const Controller &controller)
{
    return controller_service(controller.meta.key.name) + "-0";
}

const Daemon *slurmctld_pod(const Known &known, const Controller &controller)
{
    auto found = known.daemons.find(
        {controller.meta.key.ns, controller_pod_name(controller)});
    return found == known.daemons.end() ? nullptr : &found->second;
}

std::string trial_pod_spec(const Controller &controller,
                           const std::string &conf)
{
    auto ours =
        pod_base({trial_etc(conf), empty_volume("run-slurmctld"),
                  empty_volume("run-slurmk8s"), empty_volume(state_volume)});
    JsonMembers made = members_of(read_own(
        daemon_spec(read_own(ours.dump()), {trial_container(controller)},
                    controller.spec.at("template/spec"), {})));
    // SlurmctldHost names it.
    put(made, "hostname", JsonValue(controller_pod_name(controller)).dump());
    put(made, "restartPolicy", R"("Never")");
    put(made, "terminationGracePeriodSeconds", "1");
    return json_object(made);
}

Wanted controller_set(const Known &known, const Controller &controller,
                      const std::string &hash)
{
    TextMap annotations{{"kubectl.kubernetes.io/default-container", slurmctld}};
    if (agent_image(known, controller).empty())
        annotations[names::config_hash_annotation] = hash;
    auto selector = JsonValue::object(
        {{"matchLabels", texts_json(controller_selector(controller))}});
    auto metadata = daemon_metadata(controller.spec.at("template/metadata"),
                                    controller_labels(controller), annotations);
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
