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

constexpr char default_template[] = R"({
  "apiVersion": "v1", "kind": "Pod",
  "spec": {
    "automountServiceAccountToken": false,
    "enableServiceLinks": false,
    "terminationGracePeriodSeconds": 30,
    "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [{"name": "job"}]
  }
})";

constexpr char volume_name[] = "slurmk8s-script";
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
        {{"name", volume_name},
         {"secret", JsonValue::object({{"secretName", secret},
                                       {"items", JsonValue::array(
                                                     {file("run"),
                                                      file("script")})}})}});
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
                JsonValue::object({{"name", volume_name},
                                   {"mountPath", names::batch_mount},
                                   {"readOnly", true}}))
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
                   const BatchMark &mark, const Conf &conf)
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
        .set("namespace", conf.batch_namespace)
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

// One word of a shell, whatever is in it.
std::string shell_word(std::string_view text)
{
    std::string word = "'";
    for (char c : text) {
        if (c == '\'')
            word += "'\\''";
        else
            word += c;
    }
    return word + "'";
}

// Of the host where sbatch ran, or of slurmd: not for a container.
bool stays_behind(std::string_view name)
{
    constexpr std::string_view of_host[] = {
        "PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "HOSTNAME", "PWD", "OLDPWD",
        "SHLVL", "_", "TMPDIR", "SLURM_UMASK", "SLURM_PRIO_PROCESS"};
    constexpr std::string_view prefixes[] = {
        "SLURM_RLIMIT_", "SLURM_SPANK_", "_SLURM_SPANK_OPTION_"};
    // env(1) would take it for an option.
    return name.empty() || name.starts_with('-') ||
           std::ranges::contains(of_host, name) ||
           std::ranges::any_of(prefixes, [&](std::string_view prefix) {
               return name.starts_with(prefix);
           });
}

std::string_view name_of(std::string_view entry)
{
    return entry.substr(0, entry.find('='));
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

std::string umask_of(const BatchScript &script)
{
    constexpr std::string_view prefix = "SLURM_UMASK=";
    for (std::string_view entry : script.environment) {
        if (!entry.starts_with(prefix))
            continue;
        std::string_view mask = entry.substr(prefix.size());
        bool octal = !mask.empty() && mask.size() <= 4 &&
                     mask.find_first_not_of("01234567") == mask.npos;
        return octal ? std::string(mask) : "";
    }
    return {};
}

} // namespace

std::string_view default_batch_template()
{
    return default_template;
}

Result<std::string> batch_pod_body(const BatchJob &batch,
                                   const BatchScript &script,
                                   const BatchUser &user,
                                   const BatchMark &mark, const Conf &conf,
                                   std::string_view pod_template)
{
    auto json = Json::parse(pod_template);
    if (!json)
        return fail(json.error(), "SbatchTemplate");
    if (json->text("kind") != "Pod" || !json->at("spec").is_object() ||
        json->items("spec/containers").size() != 1 ||
        json->at("spec/initContainers").present())
        return fail(Code::rejected,
                    "SbatchTemplate is no Pod of one container");
    Edited pod{std::string(pod_template)};
    Edited spec = pod.part("spec");
    Edited container{
        std::string(json_text(spec.text, "containers/0").value_or(empty_object))};
    container = container_of(container, batch, script);
    Edited security =
        security_of(spec.part("securityContext"), batch, user);
    spec.set_text("containers", "[" + container.text + "]")
        .set_text("securityContext", security.text)
        .set("restartPolicy", "Never")
        // The script must not be the first process of its namespace: the kernel
        // keeps from that every signal that it does not handle.
        .set("shareProcessNamespace", true)
        .set("schedulerName", conf.scheduler_names.front())
        .append("volumes", volume_of(batch_pod_name(mark)));
    pod.set_text("metadata",
                 metadata_of(pod.part("metadata"), batch, mark, conf).text)
        .set_text("spec", spec.text);
    if (!Json::parse(pod.text)) // such as a template with escapes in names
        return fail(Code::rejected, "SbatchTemplate cannot be used");
    return pod.text;
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

void add_login(BatchScript &script, const BatchUser &user)
{
    std::erase_if(script.environment, [](std::string_view entry) {
        return name_of(entry) == "SLURM_GET_USER_ENV"; // for slurmd
    });
    auto add = [&](std::string_view name, const std::string &value) {
        if (!value.empty() &&
            !std::ranges::contains(script.environment, name, name_of))
            script.environment.push_back(std::string(name) + "=" + value);
    };
    add("HOME", user.home);
    add("SHELL", user.shell);
    add("USER", user.name);
    add("LOGNAME", user.name);
}

std::string batch_launcher(const BatchScript &script,
                           const std::vector<std::string> &variables)
{
    std::string text = "#!/bin/sh\n";
    if (std::string mask = umask_of(script); !mask.empty())
        text += "umask " + mask + "\n";
    if (!script.work_dir.empty()) { // as slurmstepd does
        std::string dir = shell_word(script.work_dir);
        text += "cd " + dir + " 2>/dev/null || {\n  printf '%s\\n' " +
                shell_word("slurmk8s: error: couldn't chdir to `" +
                           script.work_dir +
                           "': not in this container: going to /tmp instead") +
                " >&2\n  cd /tmp 2>/dev/null || cd /\n}\n";
    }
    text += "exec env";
    auto known = [&](std::string_view name) {
        return std::ranges::contains(variables, name, name_of);
    };
    for (const std::string &entry : script.environment)
        if (entry.contains('=') && !stays_behind(name_of(entry)) &&
            !known(name_of(entry)))
            text += " \\\n  " + shell_word(entry);
    for (const std::string &entry : variables)
        text += " \\\n  " + shell_word(entry);
    text += std::string(" \\\n  ") + names::batch_mount + "/script";
    for (const std::string &argument : script.arguments)
        text += " " + shell_word(argument);
    return text + "\n";
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
