// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/accounting.h"

#include "common/base/stable_hash.h"
#include "common/contract/worker_names.h"
#include "operator/decide/configuration.h"
#include "operator/decide/daemon_pod.h"
#include "operator/decide/json_merge.h"
#include "operator/decide/jwks.h"
#include "operator/decide/made.h"
#include "operator/decide/metadata.h"
#include "operator/decide/names.h"
#include "operator/decide/release_order.h"
#include "operator/decide/said.h"

#include <format>
#include <utility>

namespace bridge::slinky {

namespace {

constexpr const char *slurmdbd = slurmdbd_app; // container and port, too
constexpr std::int64_t slurmdbd_port = 6819;
constexpr std::int64_t mysql_port = 3306;

TextMap selector_labels(const Unserved &accounting)
{
    return {{names::app_label, slurmdbd},
            {names::instance_label, accounting.meta.key.name}};
}

TextMap labels_of(const Unserved &accounting)
{
    TextMap labels = selector_labels(accounting);
    labels[names::component_label] = "accounting";
    return labels;
}

// What slurmdbd reads at its start only.
TextMap files_of(const Unserved &accounting, const Jwks &jwks)
{
    TextMap files{{"slurmdbd.conf", slurmdbd_conf(accounting)}};
    if (jwks.named)
        files[jwks_file] = jwks.text;
    return files;
}

Wanted config_map(const Unserved &accounting, const TextMap &files)
{
    return {"ConfigMap",
            accounting_name(accounting),
            labels_of(accounting),
            {},
            file_members(files, {})};
}

Wanted service(const Unserved &accounting)
{
    auto port = JsonValue::object({{"name", slurmdbd},
                                   {"port", slurmdbd_port},
                                   {"protocol", "TCP"},
                                   {"targetPort", slurmdbd}});
    auto spec = JsonValue::object(
        {{"selector", texts_json(selector_labels(accounting))},
         {"ports", JsonValue::array({std::move(port)})}});
    return {"Service",
            accounting_name(accounting),
            labels_of(accounting),
            {},
            {{"spec", merged(read_own(spec.dump()),
                             accounting.spec.at("service/spec"))}}};
}

// slurmdbd takes its files from its own user only, who cannot own those of a
// volume. So they are copied into the memory of the Pod.
std::string copy_container(const Unserved &accounting)
{
    JsonValue::Array command{"/usr/bin/install",
                             "-m",
                             "0600",
                             "-t",
                             "/etc/slurm",
                             "/mnt/slurm/slurmdbd.conf",
                             "/mnt/slurm/slurm.key",
                             "/mnt/slurm/jwt.key"};
    if (names_jwks(accounting.spec))
        command.push_back(std::string("/mnt/slurm/") + jwks_file);
    auto ours = JsonValue::object(
        {{"name", "files"},
         {"image", accounting.spec.text("slurmdbd/image")},
         {"command", JsonValue::array(std::move(command))},
         {"volumeMounts", JsonValue::array({mount("files", "/mnt/slurm", true),
                                            mount("slurm-etc", "/etc/slurm")})},
         {"securityContext", container_security()}});
    std::string policy = accounting.spec.text("slurmdbd/imagePullPolicy");
    if (!policy.empty())
        ours.add("imagePullPolicy", policy);
    return ours.dump();
}

std::string slurmdbd_container(const Unserved &accounting)
{
    Json from = accounting.spec.at("storageConfig/passwordKeyRef");
    auto key = JsonValue::object(
        {{"name", from.text("name")}, {"key", from.text("key")}});
    auto password = JsonValue::object(
        {{"name", "MYSQL_PWD"},
         {"valueFrom", JsonValue::object({{"secretKeyRef", std::move(key)}})}});
    auto answers = JsonValue::object(
        {{"tcpSocket", JsonValue::object({{"port", slurmdbd}})},
         {"initialDelaySeconds", 1},
         {"periodSeconds", 5}});
    auto ours = JsonValue::object(
        {{"command", JsonValue::array({"/usr/sbin/slurmdbd"})},
         {"args", JsonValue::array({"-D"})},
         {"env", JsonValue::array({std::move(password)})},
         {"ports", JsonValue::array({port_json(slurmdbd, slurmdbd_port)})},
         {"volumeMounts", JsonValue::array({mount("slurm-etc", "/etc/slurm"),
                                            mount("run", "/run/slurmdbd")})},
         {"readinessProbe", std::move(answers)},
         {"securityContext", container_security()}});
    return container_json(slurmdbd, ours, accounting.spec.at("slurmdbd"));
}

std::string pod_spec(const Unserved &accounting)
{
    JsonValue::Array sources{JsonValue::object(
        {{"configMap",
          JsonValue::object({{"name", accounting_name(accounting)}})}})};
    for (JsonValue &source : key_sources(accounting.spec))
        sources.push_back(std::move(source));
    auto files = JsonValue::object(
        {{"name", "files"},
         {"projected",
          JsonValue::object(
              {{"sources", JsonValue::array(std::move(sources))}})}});
    auto memory = JsonValue::object(
        {{"name", "slurm-etc"},
         {"emptyDir", JsonValue::object({{"medium", "Memory"}})}});
    auto ours = JsonValue::object(
        {{"enableServiceLinks", false},
         {"securityContext", pod_security()},
         {"volumes", JsonValue::array({std::move(files), std::move(memory),
                                       empty_volume("run")})}});
    JsonMembers members = members_of(read_own(ours.dump()));
    put(members, "initContainers", json_array({copy_container(accounting)}));
    return daemon_spec(read_own(json_object(members)),
                       {slurmdbd_container(accounting)},
                       accounting.spec.at("template/spec"), {});
}

// Two slurmdbds of different releases on one database would be one too many.
Wanted deployment(const Unserved &accounting, const TextMap &files)
{
    auto selector = JsonValue::object(
        {{"matchLabels", texts_json(selector_labels(accounting))}});
    auto metadata = daemon_metadata(
        accounting.spec.at("template/metadata"), labels_of(accounting),
        {{names::config_hash_annotation,
          std::format("{:016x}", stable_hash(text_of(files)))},
         {"kubectl.kubernetes.io/default-container", slurmdbd}});
    std::string spec = json_object(
        {{"replicas", "1"},
         {"revisionHistoryLimit", "0"},
         {"strategy", R"({"type":"Recreate"})"},
         {"selector", selector.dump()},
         {"template", json_object({{"metadata", metadata.dump()},
                                   {"spec", pod_spec(accounting)}})}});
    return {"Deployment",
            accounting_name(accounting),
            labels_of(accounting),
            {},
            {{"spec", std::move(spec)}}};
}

std::string problem_of(const Unserved &accounting, const Jwks &jwks)
{
    if (!is_host_label(accounting_name(accounting)))
        return "The Service \"" + accounting_name(accounting) +
               "\" cannot have this name: the Accounting needs another one.";
    if (accounting.spec.text("slurmdbd/image").empty())
        return "slurmdbd.image names no image.";
    if (accounting.spec.text("slurmKeyRef/name").empty() ||
        jwt_key(accounting.spec).secret.empty())
        return "slurmKeyRef and jwtKeyRef have to name Secrets.";
    if (accounting.spec.text("storageConfig/passwordKeyRef/name").empty())
        return "storageConfig.passwordKeyRef has to name a Secret.";
    if (accounting.spec.flag("template/spec/hostNetwork"))
        return "template.spec.hostNetwork is not served.";
    return jwks.problem;
}

bool is_ready(const Known &known, const Unserved &accounting)
{
    const Made *made = find_made(known, {"Accounting", accounting.meta},
                                 "Deployment", accounting_name(accounting));
    return made && made->ready > 0;
}

std::vector<Said> conditions_of(const Known &known, const Unserved &accounting,
                                const std::string &problem,
                                const std::string &older,
                                const std::string &failure)
{
    bool ready = is_ready(known, accounting);
    return {accepted(problem, "A slurmdbd can be made of it."),
            {"Served", true, "Served", "All that the spec asks for."},
            updated(older),
            {"Available", ready, ready ? "Ready" : "NotReady",
             ready ? "slurmdbd answers."
                   : "slurmdbd does not answer yet. It waits for its database, "
                     "or its Pod says why."},
            failing(failure)};
}

} // namespace

std::string accounting_name(const Unserved &accounting)
{
    return accounting.meta.key.name + "-accounting";
}

const Unserved *accounting_of(const Known &known, const Controller &controller)
{
    std::string name = controller.spec.text("accountingRef/name");
    auto found =
        known.unserved.find({"Accounting", {controller.meta.key.ns, name}});
    return found == known.unserved.end() ? nullptr : &found->second;
}

std::string accounting_conf(const Known &known, const Controller &controller)
{
    const Unserved *accounting = accounting_of(known, controller);
    if (!accounting)
        return {};
    const Json &spec = accounting->spec;
    bool external = spec.flag("external");
    return std::format(
        "\n# Accounting\n"
        "AccountingStorageType=accounting_storage/slurmdbd\n"
        "AccountingStorageHost={}\n"
        "AccountingStoragePort={}\n",
        external ? spec.text("externalConfig/host")
                 : accounting_name(*accounting) + "." + accounting->meta.key.ns,
        external ? spec.integer("externalConfig/port").value_or(slurmdbd_port)
                 : slurmdbd_port);
}

std::string accounting_waits(const Known &known, const Controller &controller)
{
    std::string name = controller.spec.text("accountingRef/name");
    if (name.empty())
        return {};
    const Unserved *accounting = accounting_of(known, controller);
    if (!accounting)
        return "There is no Accounting " + name + " in this namespace.";
    if (accounting->spec.flag("external") || is_ready(known, *accounting))
        return {};
    return "slurmctld starts for the first time when Accounting " + name +
           " is available.";
}

std::string slurmdbd_conf(const Unserved &accounting)
{
    Json storage = accounting.spec.at("storageConfig");
    auto or_else = [&](const char *name, const char *fallback) {
        std::string said = storage.text(name);
        return said.empty() ? std::string(fallback) : said;
    };
    std::string conf = std::format(
        "# Made by slurmk8s-operator of Accounting {}/{}. What is changed here "
        "is lost:\n# change the Accounting.\n"
        "AuthType=auth/slurm\n"
        "AuthInfo=use_client_ids\n"
        "AuthAltTypes=auth/jwt\n"
        "{}"
        "DbdHost=localhost\n"
        "DbdPort={}\n"
        "SlurmUser=slurm\n"
        "PidFile=/run/slurmdbd/slurmdbd.pid\n"
        "\n# The database. Its password is in the variable MYSQL_PWD.\n"
        "StorageType=accounting_storage/mysql\n"
        "StorageHost={}\n"
        "StoragePort={}\n"
        "StorageUser={}\n"
        "StorageLoc={}\n",
        accounting.meta.key.ns, accounting.meta.key.name,
        auth_alt_line(accounting.spec), slurmdbd_port,
        or_else("host", "localhost"),
        storage.integer("port").value_or(mysql_port),
        or_else("username", "slurm"), or_else("database", "slurm_acct_db"));
    std::string extra = accounting.spec.text("extraConf");
    if (!extra.empty())
        conf += "\n# extraConf\n" + extra + (extra.ends_with('\n') ? "" : "\n");
    return conf;
}

std::vector<Step> decide_accounting(const Known &known,
                                    const Unserved &accounting,
                                    const Failures &failures, Now now)
{
    if (accounting.meta.deleting)
        return {};
    if (accounting.spec.flag("external"))
        return say("Accounting", "accountings", accounting.meta,
                   accounting.conditions,
                   {{"Served", true, "External",
                     "slurmdbd runs elsewhere: nothing is made for it."}},
                   now);
    Jwks jwks = jwks_of(known, accounting.meta.key.ns, accounting.spec);
    if (!jwks.known) // more is done when it is
        return {};
    std::string problem = problem_of(accounting, jwks);
    TextMap files = files_of(accounting, jwks);
    ImageNow image = slurmdbd_image(known, accounting);
    std::vector<Step> steps;
    if (problem.empty())
        for (const Wanted &wanted :
             {config_map(accounting, files), service(accounting),
              deployment(with_image(accounting, image), files)})
            if (auto step =
                    made_step(known, {"Accounting", accounting.meta}, wanted))
                steps.push_back(std::move(*step));
    auto said = conditions_of(known, accounting, problem, image.reason,
                              refused(steps, failures));
    std::ranges::move(say("Accounting", "accountings", accounting.meta,
                          accounting.conditions, said, now),
                      std::back_inserter(steps));
    return steps;
}

} // namespace bridge::slinky
