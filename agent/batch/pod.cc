// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/pod.h"

#include "agent/batch/gres.h"
#include "agent/batch/pod_parts.h"
#include "agent/batch/srun.h"
#include "agent/batch/warning.h"
#include "agent/objects/owner_reference.h"
#include "common/base/json.h"
#include "common/base/json_text.h"
#include "common/base/units.h"
#include "common/contract/batch_names.h"
#include "common/contract/names.h"

#include <cstdint>
#include <map>
#include <optional>

namespace bridge {

namespace {

constexpr char empty_object[] = "{}";

using Devices = std::map<std::string, std::uint64_t>; // by resource name

MebiBytes memory_of(const Job &job)
{
    if (job.memory_per_node.value != 0)
        return job.memory_per_node;
    return {job.memory_per_cpu.value * job.cpus};
}

JsonValue resources_of(const Job &job, const Devices &devices)
{
    JsonValue::Object amounts{{"cpu", std::to_string(job.cpus)}};
    // A limit of 0 would mean no limit; Slurm does not manage memory then.
    if (MebiBytes memory = memory_of(job); memory.value != 0)
        amounts.emplace_back("memory", std::to_string(memory.value) + "Mi");
    for (const auto &[name, count] : devices)
        amounts.emplace_back(name, std::to_string(count));
    return JsonValue::object({{"requests", JsonValue::object(amounts)},
                              {"limits", JsonValue::object(amounts)}});
}

Edited container_of(Edited container, const BatchJob &batch,
                    const BatchScript &script, const Devices &devices,
                    Part part)
{
    Edited security = container.part("securityContext");
    security.set("allowPrivilegeEscalation", false)
        .set("privileged", false)
        .set("runAsUser", std::int64_t{batch.user_id})
        .set("runAsGroup", std::int64_t{batch.group_id})
        .set("capabilities",
             JsonValue::object({{"drop", JsonValue::array({"ALL"})}}));
    add_command(container, batch, script, part);
    return container.set("name", names::batch_container)
        .set("image", script.image)
        .set("args", JsonValue::array({}))
        .set("resources", resources_of(batch.job, devices))
        .set_text("securityContext", security.text);
}

Edited security_of(Edited security, const BatchJob &batch,
                   const BatchUser &user)
{
    JsonValue::Array groups;
    for (std::uint32_t group : user.groups)
        groups.emplace_back(std::int64_t{group});
    // Strict: otherwise the user would also get the groups that the image's
    // /etc/group lists for him, and such a group may be another one here.
    return security.set("runAsNonRoot", true)
        .set("runAsUser", std::int64_t{batch.user_id})
        .set("runAsGroup", std::int64_t{batch.group_id})
        .set("supplementalGroups", JsonValue::array(std::move(groups)))
        .set("supplementalGroupsPolicy", "Strict");
}

// Adds what administrators look for, and what is needed to adopt a Pod whose
// job is lost.
Edited metadata_of(Edited metadata, const BatchJob &batch,
                   const BatchScript &script, const BatchMark &mark,
                   const BatchPlace &place, const std::string &ns,
                   const std::string &srun)
{
    Edited annotations = metadata.part("annotations");
    auto wish = [&](const char *name, const std::string &value) {
        if (!value.empty())
            annotations.set(
                (std::string(names::job_annotation_prefix) + name).c_str(),
                value);
    };
    wish("user-id", std::to_string(batch.user_id));
    wish("group-id", std::to_string(batch.group_id));
    wish("account", batch.account);
    wish("partition", batch.partition);
    wish("qos", batch.qos);
    wish("reservation", batch.reservation);
    if (batch.time_limit)
        wish("timelimit", std::to_string(*batch.time_limit));
    annotations.set(names::batch_annotation, encode(mark))
        .set(names::batch_place_annotation, encode(place));
    if (has_warning(script))
        annotations.set(names::batch_ends_annotation, ends_text(batch.ends));
    if (!srun.empty())
        annotations.set(names::batch_srun_annotation, srun);
    return metadata.set("name", batch_pod_name(mark, place))
        .set("namespace", ns)
        .set_text("annotations", annotations.text);
}

// Joins the Pods of a job to a gang: all are bound, or none. The Pod of the
// script owns the workers.
void join_gang(Edited &metadata, const BatchMark &mark, const BatchPlace &place)
{
    std::string first = batch_pod_name(mark);
    Edited labels = metadata.part("labels");
    Edited annotations = metadata.part("annotations");
    labels.set(names::gang_label, first);
    annotations.set(names::gang_size_annotation, std::to_string(place.count));
    metadata.set_text("labels", labels.text)
        .set_text("annotations", annotations.text);
    if (!place.first.empty())
        metadata.set("ownerReferences",
                     JsonValue::array({owner_reference(first, place.first)}));
}

} // namespace

Result<std::string> batch_pod_body(const BatchJob &batch,
                                   const BatchScript &script,
                                   const BatchUser &user, const BatchMark &mark,
                                   const Conf &conf, const BatchPlace &place,
                                   const std::string &srun)
{
    Part part{place.rank != 0, place.count > 1, !srun.empty()};
    auto base = pod_with_volumes(conf.batch_pod, script.volumes);
    if (!base)
        return std::unexpected(base.error());
    auto devices = batch_devices(batch, conf.device_gres);
    if (!devices)
        return std::unexpected(devices.error());
    Edited pod{std::move(*base)};
    Edited spec = pod.part("spec");
    Edited container{std::string(
        json_text(spec.text, "containers/0").value_or(empty_object))};
    container = container_of(container, batch, script, *devices, part);
    Edited security = security_of(spec.part("securityContext"), batch, user);
    spec.set_text("containers", json_array({container.text}))
        .set_text("securityContext", security.text)
        .set("automountServiceAccountToken", false)
        .set("restartPolicy", "Never")
        // The script must not be the first process of its PID namespace: the
        // kernel delivers to that process only signals that it handles.
        .set("shareProcessNamespace", true)
        .set("schedulerName", conf.scheduler_names.front());
    add_volumes(spec, script, part, batch_pod_name(mark), srun);
    if (part.several)
        name_host(spec, place.node, batch_pod_name(mark),
                  batch_namespace_of(script, conf), conf.cluster_domain);
    if (!script.service_account.empty())
        spec.set("serviceAccountName", script.service_account);
    Edited metadata =
        metadata_of(pod.part("metadata"), batch, script, mark, place,
                    batch_namespace_of(script, conf), srun);
    if (part.several)
        join_gang(metadata, mark, place);
    pod.set_text("metadata", metadata.text).set_text("spec", spec.text);
    if (!Json::parse(pod.text))
        return fail(Code::internal, "the Pod's text is not JSON");
    return pod.text;
}

std::string with_grace_up_to(std::chrono::seconds most, std::string pod)
{
    auto json = Json::parse(pod);
    auto grace = json ? json->integer("spec/terminationGracePeriodSeconds")
                      : std::nullopt;
    if (grace.value_or(default_grace_period) <= most.count())
        return pod;
    Edited edited{std::move(pod)};
    Edited spec = edited.part("spec");
    spec.set("terminationGracePeriodSeconds", std::int64_t{most.count()});
    return edited.set_text("spec", spec.text).text;
}

std::optional<Predicate> batch_predicate(const Conf &conf)
{
    if (conf.batch_template.empty())
        return std::nullopt;
    auto json = Json::parse(conf.batch_pod.pod);
    return value_of(json ? pod_from(*json).predicate : PredicatePtr());
}

std::string batch_namespace_of(const BatchScript &script, const Conf &conf)
{
    return script.name_space.empty() ? conf.batch_namespace : script.name_space;
}

} // namespace bridge
