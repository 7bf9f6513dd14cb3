// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/batch_refusal.h"

#include "common/base/text.h"
#include "common/contract/constraints.h"
#include "plugins/job_submit/job_desc.h"
#include "plugins/shared/pod_array.h"

#include <algorithm>

namespace bridge {

namespace {

using Desc = job_desc_msg_t;

// Returns the name of the GRES in "gres/gpu:a100:2" or "gres:gpu", or "" if the
// text has none. Returns nothing where Slurm's rules would find another name
// than ours: Slurm looks for "gres" anywhere in the text (slurm_get_next_tres()
// in slurm_protocol_defs.c).
std::optional<std::string_view> gres_in(std::string_view tres)
{
    constexpr std::string_view word = "gres";
    if (!tres.contains(word))
        return std::string_view();
    if (!tres.starts_with("gres/") && !tres.starts_with("gres:"))
        return std::nullopt;
    tres.remove_prefix(word.size() + 1);
    std::string_view name = tres.substr(0, tres.find_first_of(":="));
    if (name.empty() && !tres.empty())
        return std::nullopt;
    return name;
}

// SIGRTMAX, as in kill(1).
constexpr std::uint16_t last_signal = 64;

struct RefusalRule {
    bool (*applies)(const Desc &desc);
    const char *reason;
};

// The messages use the names of sbatch's options.
constexpr RefusalRule refusal_rules[] = {
    {[](const Desc &d) { return !given(d.script) && !is_component(d); },
     "--k8s-image is for sbatch only."},
    {[](const Desc &d) { return is_heterogeneous(d) && is_array(d); },
     "A heterogeneous job with --k8s-image cannot be an array."},
    // Otherwise Slurm would continue with fewer nodes, and the script without
    // some of its Pods.
    {[](const Desc &d) {
         return (has_several_nodes(d) || is_heterogeneous(d)) &&
                d.kill_on_node_fail == 0;
     },
     "--no-kill is not supported with --k8s-image and several nodes."},
    {[](const Desc &d) { return bool(d.bitflags & CRON_JOB); },
     "A job of scrontab cannot run as a Pod."},
    {[](const Desc &d) { return d.requeue == 1; },
     "A job with --k8s-image cannot be requeued: leave out --requeue."},
    {[](const Desc &d) {
         return has_signal(d) && d.warn_flags & KILL_JOB_RESV;
     },
     "--signal=R: is not supported with --k8s-image."},
    {[](const Desc &d) { return has_signal(d) && d.warn_signal > last_signal; },
     "--signal must name an existing signal."},
    {[](const Desc &d) { return given(d.container) || given(d.container_id); },
     "--container and --k8s-image exclude each other."},
    {[](const Desc &d) { return given(d.burst_buffer); },
     "Burst buffers are not supported with --k8s-image."},
};

std::optional<std::string> constraints_refusal_reason(const Desc &desc)
{
    struct {
        const char *option;
        const char *features;
    } const asked[] = {{"--constraint", desc.features},
                       {"--prefer", desc.prefer}};
    for (const auto &[option, features] : asked)
        if (given(features))
            if (std::string must = unfit_constraint_reason(features);
                !must.empty())
                return std::string(option) + " must " + must + ".";
    return std::nullopt;
}

std::optional<std::string> nodes_refusal_reason(const Desc &desc,
                                                const Conf &conf)
{
    if (most_nodes(desc) <= conf.max_gang_size)
        return std::nullopt;
    return "--nodes: a job with --k8s-image may have " +
           std::to_string(conf.max_gang_size) +
           " nodes (MaxGangSize in k8s.conf).";
}

std::string in_brackets(const std::vector<std::string> &names)
{
    std::string text;
    for (const std::string &name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "none" : text;
}

// Accepts only devices that Slurm counts for Pods. Those of device plugins are
// not assigned by Slurm.
std::optional<std::string> gres_refusal_reason(const Desc &desc,
                                               const Conf &conf)
{
    std::vector<std::string> known;
    for (const DeviceGres &one : conf.device_gres)
        if (!one.is_resource() && !one.is_cpus() &&
            !std::ranges::contains(known, one.gres))
            known.push_back(one.gres);
    for (const char *tres : {desc.tres_per_job, desc.tres_per_node,
                             desc.tres_per_socket, desc.tres_per_task})
        for (std::string_view list = tres ? tres : ""; !list.empty();) {
            std::string_view one = next_part(list, ',');
            auto name = gres_in(one);
            if (!name)
                return "--gres: \"" + std::string(one.substr(0, 64)) +
                       "\" is not gres/NAME[:TYPE][:COUNT].";
            if (!name->empty() && !std::ranges::contains(known, *name))
                return "--gres: \"" + std::string(name->substr(0, 64)) +
                       "\" is not available in Pods: DeviceGres in k8s.conf "
                       "has no DeviceClass for it (available: " +
                       in_brackets(known) + ").";
        }
    return std::nullopt;
}

// Checks what the site lets jobs choose.
std::optional<std::string> choice_refusal_reason(const BatchWish &wish,
                                                 const Conf &conf)
{
    const std::vector<std::string> &volumes = conf.batch_pod.choosable;
    for (const std::string &name : wish.volumes)
        if (!std::ranges::contains(volumes, name))
            return "--k8s-volume: jobs cannot choose the volume \"" + name +
                   "\" (available: " + in_brackets(volumes) + ").";
    if (!wish.service_account.empty() &&
        !std::ranges::contains(conf.batch_accounts, wish.service_account))
        return "--k8s-service-account: jobs cannot choose \"" +
               wish.service_account +
               "\" (available: " + in_brackets(conf.batch_accounts) + ").";
    if (!wish.name_space.empty() && !is_batch_namespace(conf, wish.name_space))
        return "--k8s-namespace: jobs cannot choose \"" + wish.name_space +
               "\" (available: " + in_brackets(conf.batch_namespaces) + ").";
    return std::nullopt;
}

} // namespace

std::optional<std::string> batch_refusal_reason(const Desc &desc,
                                                const BatchWish &wish,
                                                const Conf &conf,
                                                std::uint32_t slurm_user)
{
    if (wish.image.empty())
        return "The options --k8s-… need --k8s-image, as this partition has no "
               "DefaultImage in k8s.conf.";
    if (conf.batch_namespace.empty())
        return "Batch jobs do not run as Pods in this cluster: k8s.conf has no "
               "SbatchNamespace.";
    bool mighty =
        desc.user_id == 0 || desc.group_id == 0 || desc.user_id == slurm_user;
    if (mighty) // regardless of AllowRoot, which is about Slurm, not about
                // containers
        return "Batch jobs of root, of SlurmUser and of the group root do not "
               "run as Pods.";
    for (const RefusalRule &unfit_reason : refusal_rules)
        if (unfit_reason.applies(desc))
            return unfit_reason.reason;
    if (auto reason = nodes_refusal_reason(desc, conf))
        return reason;
    if (auto reason = constraints_refusal_reason(desc))
        return reason;
    if (auto reason = gres_refusal_reason(desc, conf))
        return reason;
    return choice_refusal_reason(wish, conf);
}

std::optional<std::string>
array_refusal_reason(const Desc &desc, std::string_view burst_buffer_type)
{
    if (!is_array(desc) || makes_pod_arrays(burst_buffer_type))
        return std::nullopt;
    return "A job array cannot run as Pods in this cluster: slurm.conf has no "
           "BurstBufferType=burst_buffer/k8s. Leave out --array or "
           "--k8s-image.";
}

std::optional<std::string> size_refusal_reason(std::size_t size,
                                               const Conf &conf)
{
    if (size <= conf.max_script_size)
        return std::nullopt;
    return "The script, its arguments and its environment need " +
           std::to_string(size) +
           " bytes in the Pod's Secret; a job with --k8s-image may have " +
           std::to_string(conf.max_script_size) +
           " (MaxScriptSize in k8s.conf). --export=NONE omits the environment.";
}

} // namespace bridge
