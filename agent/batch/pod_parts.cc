// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/pod_parts.h"

#include "agent/batch/gres.h"
#include "agent/batch/srun.h"
#include "agent/batch/warning.h"
#include "common/base/ascii.h"
#include "common/contract/batch_names.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace bridge {

namespace {

constexpr char script_volume[] = "slurmk8s-script";
constexpr char pipes_volume[] = "slurmk8s-pipes";
constexpr char ends_volume[] = "slurmk8s-ends";
constexpr char srun_volume[] = "slurmk8s-srun";
constexpr char hosts_volume[] = "slurmk8s-hosts";
constexpr int program_mode = 0555; // of executable files

// Only srun in the Pod of the script looks up the Pods of other nodes.
bool has_hosts(Part part)
{
    return part.srun && part.several && !part.worker;
}

// Selects the files of the Secret for a Pod: a worker gets only the key.
JsonValue volume_of(const std::string &secret, Part part)
{
    auto program = [](const char *name, const char *path) {
        return JsonValue::object({{"key", name}, {"path", path}});
    };
    JsonValue::Array items;
    if (!part.worker)
        items = {program("run", "run"), program("script", "script")};
    if (part.srun && part.several)
        items.push_back(JsonValue::object({{"key", names::step_key_file},
                                           {"path", names::step_key_file},
                                           {"mode", 0444}}));
    else if (!part.srun)
        items.push_back(program(names::no_srun_file, "bin/srun"));
    return JsonValue::object(
        {{"name", script_volume},
         {"secret",
          JsonValue::object({{"secretName", secret},
                             {"defaultMode", program_mode},
                             {"items", JsonValue::array(std::move(items))}})}});
}

JsonValue srun_program(const std::string &config_map)
{
    auto item = JsonValue::object({{"key", "srun"}, {"path", "srun"}});
    return JsonValue::object(
        {{"name", srun_volume},
         {"configMap", JsonValue::object(
                           {{"name", config_map},
                            {"defaultMode", program_mode},
                            {"items", JsonValue::array({std::move(item)})}})}});
}

// A volume in memory, which holds pipes for a moment.
JsonValue pipes()
{
    return JsonValue::object(
        {{"name", pipes_volume},
         {"emptyDir",
          JsonValue::object({{"medium", "Memory"}, {"sizeLimit", "1Mi"}})}});
}

// A file that always shows the current value of the annotation.
JsonValue file_of(const char *volume, const char *file, const char *annotation)
{
    std::string field =
        std::string("metadata.annotations['") + annotation + "']";
    auto item = JsonValue::object(
        {{"path", file},
         {"fieldRef", JsonValue::object({{"fieldPath", field}})}});
    return JsonValue::object(
        {{"name", volume},
         {"downwardAPI",
          JsonValue::object(
              {{"items", JsonValue::array({std::move(item)})}})}});
}

// The command of a container that waits until something starts a process in it.
constexpr char wait_for_work[] =
    "command -v sleep > /dev/null || {\n"
    "  echo 'slurmk8s: the image has no sleep' >&2\n"
    "  exit 127\n"
    "}\n"
    "trap 'kill \"$!\"; exit 0' TERM\n"
    "while :; do\n"
    "  sleep 3600 &\n"
    "  wait \"$!\"\n"
    "done\n";

JsonValue mount_of(const char *volume, const char *path)
{
    return JsonValue::object({{"name", volume}, {"mountPath", path}});
}

JsonValue read_only(const char *volume, const char *path)
{
    return JsonValue::object(
        {{"name", volume}, {"mountPath", path}, {"readOnly", true}});
}

// Sets the variables that describe the node's resources to its tasks.
void add_variables(Edited &container, const BatchJob &batch)
{
    std::vector<std::string> all = gpu_variables(batch);
    all.push_back("SLURM_CPUS_ON_NODE=" + std::to_string(batch.job.cpus));
    for (const std::string &entry : all) {
        std::size_t end = entry.find('=');
        container.append("env",
                         JsonValue::object({{"name", entry.substr(0, end)},
                                            {"value", entry.substr(end + 1)}}));
    }
}

// batch is on_node() for the Pod's node.
void add_srun(Edited &container, const BatchJob &batch, Part part)
{
    container.append("volumeMounts", read_only(srun_volume, names::srun_mount));
    if (has_hosts(part))
        container.append("volumeMounts",
                         read_only(hosts_volume, names::hosts_mount));
    if (!part.worker)
        return;
    add_variables(container, batch);
    container
        .append("volumeMounts", read_only(script_volume, names::batch_mount))
        .set("command",
             JsonValue::array(
                 {std::string(names::srun_mount) + "/srun", "--worker"}));
}

// Adds what runs the script.
void add_script(Edited &container, const BatchScript &script)
{
    if (has_warning(script))
        container.append("volumeMounts",
                         read_only(ends_volume, names::batch_ends_mount));
    container
        .set("command",
             JsonValue::array(
                 {"/bin/sh", std::string(names::batch_mount) + "/run"}))
        .append("volumeMounts", read_only(script_volume, names::batch_mount))
        .append("volumeMounts",
                mount_of(pipes_volume, names::batch_pipes_mount));
}

// A host name by RFC 1123. Other names of Slurm nodes cannot be host names.
bool is_host_name(std::string_view name)
{
    constexpr std::size_t longest = 63;
    auto plain = [](char c) { return is_lower_or_digit(c) || c == '-'; };
    return !name.empty() && name.size() <= longest &&
           std::ranges::all_of(name, plain) && name.front() != '-' &&
           name.back() != '-';
}

} // namespace

void add_command(Edited &container, const BatchJob &batch,
                 const BatchScript &script, Part part)
{
    if (part.worker)
        container.set("command",
                      JsonValue::array({"/bin/sh", "-c", wait_for_work}));
    else
        add_script(container, script);
    if (part.srun)
        add_srun(container, batch, part);
}

void add_volumes(Edited &spec, const BatchScript &script, Part part,
                 const std::string &first, const std::string &srun)
{
    if (!part.worker || part.srun)
        spec.append("volumes", volume_of(first, part));
    if (part.srun)
        spec.append("volumes", srun_program(srun));
    if (has_hosts(part))
        spec.append("volumes", file_of(hosts_volume, "hosts",
                                       names::batch_hosts_annotation));
    if (!part.worker)
        spec.append("volumes", pipes());
    if (!part.worker && has_warning(script))
        spec.append("volumes", file_of(ends_volume, names::batch_ends_file,
                                       names::batch_ends_annotation));
}

void name_host(Edited &spec, const std::string &node, const std::string &first,
               const std::string &ns, const std::string &domain)
{
    Edited dns = spec.part("dnsConfig");
    dns.append("searches", first + "." + ns + ".svc." + domain);
    spec.set_text("dnsConfig", dns.text).set("subdomain", first);
    if (is_host_name(node))
        spec.set("hostname", node);
}

} // namespace bridge
