// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch_pod.h"

#include "common/batch_names.h"
#include "common/json.h"
#include "common/json_text.h"
#include "common/names.h"

#include <algorithm>
#include <optional>
#include <openssl/evp.h>

namespace bridge {

namespace {

constexpr char script_volume[] = "slurmk8s-script";
constexpr char pipes_volume[] = "slurmk8s-pipes";
constexpr char empty_object[] = "{}";

// A JSON object whose members are set one after the other.
struct Edited {
    std::string text;

    Edited &set(const char *name, const JsonValue &value)
    {
        return set_text(name, value.dump());
    }
    Edited &set_text(const char *name, std::string_view json)
    {
        text = json_with(text, name, json);
        return *this;
    }
    Edited part(const char *name) const
    {
        return {std::string(json_text(text, name).value_or(empty_object))};
    }
    // The array of that name with one more item.
    Edited &append(const char *name, const JsonValue &item)
    {
        std::string array(json_text(text, name).value_or("[]"));
        std::size_t end = array.rfind(']');
        std::size_t last = array.find_last_not_of(" \t\r\n", end - 1);
        bool empty = array[last] == '[';
        array = array.substr(0, last + 1) + (empty ? "" : ",") + item.dump() +
                "]";
        return set_text(name, array);
    }
};

MebiBytes memory_of(const Job &job)
{
    if (job.memory_per_node.value != 0)
        return job.memory_per_node;
    return {job.memory_per_cpu.value * job.cpus};
}

JsonValue resources_of(const Job &job)
{
    JsonValue::Object amounts{{"cpu", std::to_string(job.cpus)}};
    // A limit of 0 would be none; Slurm does not manage memory there.
    if (MebiBytes memory = memory_of(job); memory.value != 0)
        amounts.emplace_back("memory", std::to_string(memory.value) + "Mi");
    return JsonValue::object({{"requests", JsonValue::object(amounts)},
                              {"limits", JsonValue::object(amounts)}});
}

JsonValue volume_of(const std::string &secret)
{
    auto file = [](const char *name) {
        return JsonValue::object(
            {{"key", name}, {"path", name}, {"mode", 0555}});
    };
    return JsonValue::object(
        {{"name", script_volume},
         {"secret", JsonValue::object({{"secretName", secret},
                                       {"items", JsonValue::array(
                                                     {file("run"),
                                                      file("script")})}})}});
}

// In memory; what is in it are pipes, for a moment.
JsonValue pipes()
{
    return JsonValue::object(
        {{"name", pipes_volume},
         {"emptyDir", JsonValue::object({{"medium", "Memory"},
                                         {"sizeLimit", "1Mi"}})}});
}

Edited container_of(Edited container, const BatchJob &batch,
                    const BatchScript &script)
{
    Edited security = container.part("securityContext");
    security.set("allowPrivilegeEscalation", false)
        .set("privileged", false)
        .set("runAsUser", std::int64_t{batch.user_id})
        .set("runAsGroup", std::int64_t{batch.group_id})
        .set("capabilities",
             JsonValue::object({{"drop", JsonValue::array({"ALL"})}}));
    return container.set("name", "job")
        .set("image", script.image)
        .set("command",
             JsonValue::array(
                 {"/bin/sh", std::string(names::batch_mount) + "/run"}))
        .set("args", JsonValue::array({}))
        .set("resources", resources_of(batch.job))
        .append("volumeMounts",
                JsonValue::object({{"name", script_volume},
                                   {"mountPath", names::batch_mount},
                                   {"readOnly", true}}))
        .append("volumeMounts",
                JsonValue::object({{"name", pipes_volume},
                                   {"mountPath", names::batch_pipes_mount}}))
        .set_text("securityContext", security.text);
}

Edited security_of(Edited security, const BatchJob &batch,
                   const BatchUser &user)
{
    JsonValue::Array groups;
    for (std::uint32_t group : user.groups)
        groups.emplace_back(std::int64_t{group});
    // Strict: an image's /etc/group gives nobody a group of this site.
    return security.set("runAsNonRoot", true)
        .set("runAsUser", std::int64_t{batch.user_id})
        .set("runAsGroup", std::int64_t{batch.group_id})
        .set("supplementalGroups", JsonValue::array(std::move(groups)))
        .set("supplementalGroupsPolicy", "Strict");
}

// What an administrator, and the adoption of a Pod whose job is lost, ask for.
Edited metadata_of(Edited metadata, const BatchJob &batch,
                   const BatchMark &mark, const std::string &ns)
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
    annotations.set(names::batch_annotation, encode(mark));
    return metadata.set("name", batch_pod_name(mark))
        .set("namespace", ns)
        .set_text("annotations", annotations.text);
}

std::string base64(const std::string &text)
{
    std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');
    int size = EVP_EncodeBlock(
        reinterpret_cast<unsigned char *>(out.data()),
        reinterpret_cast<const unsigned char *>(text.data()),
        static_cast<int>(text.size()));
    out.resize(static_cast<std::size_t>(size));
    return out;
}

// As slurmctld reckons them for SLURM_TASKS_PER_NODE, of a job of one node.
std::uint32_t tasks_of(const BatchJob &batch)
{
    const Job &job = batch.job;
    if (batch.says_tasks)
        return job.tasks;
    if (batch.tasks_per_node != 0)
        return batch.tasks_per_node;
    return job.cpus / std::max<std::uint32_t>(job.cpus_per_task, 1);
}

} // namespace

Result<std::string> batch_pod_body(const BatchJob &batch,
                                   const BatchScript &script,
                                   const BatchUser &user,
                                   const BatchMark &mark, const Conf &conf)
{
    auto base = pod_with_volumes(conf.batch_pod, script.volumes);
    if (!base)
        return std::unexpected(base.error());
    Edited pod{std::move(*base)};
    Edited spec = pod.part("spec");
    Edited container{
        std::string(json_text(spec.text, "containers/0").value_or(empty_object))};
    container = container_of(container, batch, script);
    Edited security =
        security_of(spec.part("securityContext"), batch, user);
    spec.set_text("containers", "[" + container.text + "]")
        .set_text("securityContext", security.text)
        .set("automountServiceAccountToken", false)
        .set("restartPolicy", "Never")
        // The script must not be the first process of its namespace: the kernel
        // keeps from that every signal that it does not handle.
        .set("shareProcessNamespace", true)
        .set("schedulerName", conf.scheduler_names.front())
        .append("volumes", volume_of(batch_pod_name(mark)))
        .append("volumes", pipes());
    if (!script.service_account.empty())
        spec.set("serviceAccountName", script.service_account);
    pod.set_text("metadata", metadata_of(pod.part("metadata"), batch, mark,
                                         batch_namespace_of(script, conf))
                                 .text)
        .set_text("spec", spec.text);
    if (!Json::parse(pod.text))
        return fail(Code::internal, "the Pod's text is no JSON");
    return pod.text;
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
    return script.name_space.empty() ? conf.batch_namespace
                                     : script.name_space;
}

std::string batch_secret_body(const Pod &pod, const std::string &launcher,
                              const std::string &script)
{
    auto owner = JsonValue::object({{"apiVersion", "v1"},
                                    {"kind", "Pod"},
                                    {"name", pod.key.name},
                                    {"uid", pod.uid}});
    auto metadata = JsonValue::object(
        {{"name", pod.key.name},
         {"namespace", pod.key.ns},
         {"ownerReferences", JsonValue::array({std::move(owner)})}});
    return JsonValue::object(
               {{"apiVersion", "v1"},
                {"kind", "Secret"},
                {"metadata", std::move(metadata)},
                {"type", "slurmk8s/sbatch"},
                {"immutable", true},
                {"data", JsonValue::object({{"run", base64(launcher)},
                                            {"script", base64(script)}})}})
        .dump();
}

std::vector<std::string> batch_variables(const BatchJob &batch,
                                         const BatchUser &user,
                                         const std::string &cluster)
{
    const Job &job = batch.job;
    std::vector<std::string> all;
    auto add = [&](const char *name, const std::string &value) {
        if (!value.empty())
            all.push_back(std::string(name) + "=" + value);
    };
    auto number = [](auto value) { return std::to_string(value); };
    auto seconds = [](std::chrono::sys_seconds time) {
        return std::to_string(time.time_since_epoch().count());
    };
    std::string id = number(job.ref.id);
    std::string cpus = number(job.cpus);
    for (const char *name : {"SLURM_JOB_ID", "SLURM_JOBID"})
        add(name, id);
    add("SLURM_JOB_NAME", batch.name);
    for (const char *name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST"})
        add(name, batch.hostlist);
    for (const char *name : {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"})
        add(name, number(job.nodes.size()));
    if (batch.says_tasks)
        for (const char *name : {"SLURM_NTASKS", "SLURM_NPROCS"})
            add(name, number(job.tasks));
    add("SLURM_TASKS_PER_NODE", number(tasks_of(batch)));
    if (job.cpus_per_task > 1)
        add("SLURM_CPUS_PER_TASK", number(job.cpus_per_task));
    add("SLURM_CPUS_ON_NODE", cpus);
    add("SLURM_JOB_CPUS_PER_NODE", cpus);
    if (job.memory_per_node.value != 0 && batch.says_memory)
        add("SLURM_MEM_PER_NODE", number(job.memory_per_node.value));
    else if (job.memory_per_cpu.value != 0)
        add("SLURM_MEM_PER_CPU", number(job.memory_per_cpu.value));
    add("SLURM_JOB_PARTITION", batch.partition);
    add("SLURM_JOB_ACCOUNT", batch.account);
    add("SLURM_JOB_QOS", batch.qos);
    add("SLURM_JOB_RESERVATION", batch.reservation);
    add("SLURM_JOB_UID", number(batch.user_id));
    add("SLURM_JOB_USER", user.name);
    add("SLURM_JOB_GID", number(batch.group_id));
    add("SLURM_JOB_GROUP", user.group);
    add("SLURM_JOB_START_TIME", seconds(batch.started));
    add("SLURM_JOB_END_TIME", seconds(batch.ends));
    add("SLURM_CLUSTER_NAME", cluster);
    if (!job.nodes.empty())
        add("SLURMD_NODENAME", job.nodes.front());
    for (const char *name : {"SLURM_NODEID", "SLURM_PROCID", "SLURM_LOCALID",
                             "SLURM_GTIDS"})
        add(name, "0");
    add("ENVIRONMENT", "BATCH");
    return all;
}

} // namespace bridge
