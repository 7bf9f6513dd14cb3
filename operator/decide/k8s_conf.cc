// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/k8s_conf.h"

#include "common/base/conf_lines.h"
#include "common/contract/conf.h"
#include "common/contract/worker_names.h"
#include "operator/decide/controller_pod.h"

#include <format>

namespace bridge::slinky {

namespace {

constexpr char schedules_key[] = "SchedulePods";

constexpr char by_operator[] = "is set by the operator";
constexpr char of_pod[] = "follows from the Pod of slurmk8sd";
constexpr char of_hosts[] = "is for hosts with a slurmd of their own";

// A key that no line of the site may have.
struct OwnKey {
    std::string_view name;
    const char *why;
};

constexpr OwnKey own_keys[] = {
    {schedules_key, by_operator},      {"WorkerNamespace", by_operator},
    {"WorkerController", by_operator}, {"LeaseNamespace", by_operator},
    {"LeaseName", by_operator},        {"ConfigHashFile", by_operator},
    {"KubeApiServer", of_pod},         {"KubeCaFile", of_pod},
    {"KubeTokenFile", of_pod},         {"Socket", of_pod},
    {"KubeletDir", of_hosts},          {"NodeLabelsFile", of_hosts},
};

std::string annotation(const Controller &controller, const char *name)
{
    auto found = controller.meta.annotations.find(name);
    return found == controller.meta.annotations.end() ? std::string()
                                                      : found->second;
}

// Those of the site; each ends with its line feed.
std::string site_lines(const Controller &controller)
{
    std::string lines = annotation(controller, names::k8s_conf_annotation);
    if (!lines.empty() && !lines.ends_with('\n'))
        lines += '\n';
    return lines;
}

std::string our_lines(const Controller &controller)
{
    return std::format("WorkerNamespace={0}\nLeaseNamespace={0}\n"
                       "LeaseName={1}\nConfigHashFile=/etc/slurm/{2}\n",
                       controller.meta.key.ns, names::agent_lease,
                       names::config_hash_file);
}

Result<> refuse_own(std::string_view key, std::string_view)
{
    for (const OwnKey &own : own_keys)
        if (is_key(key, own.name))
            return fail(Code::rejected,
                        std::format("{} {}: leave it out", own.name, own.why));
    return {};
}

std::string refusal(const Error &error)
{
    return std::format("The annotation {} cannot be taken: {}.",
                       names::k8s_conf_annotation, error.message);
}

} // namespace

bool wants_bridge(const Controller &controller)
{
    return annotation(controller, names::bridge_annotation) == "true";
}

bool has_bridge(const Controller &controller)
{
    return wants_bridge(controller) && loads_plugins(controller);
}

std::string k8s_conf(const Controller &controller)
{
    std::string lines = our_lines(controller);
    if (has_bridge(controller))
        return lines + site_lines(controller);
    return lines + schedules_key + "=no\n";
}

std::string k8s_conf_problem(const Controller &controller)
{
    if (!wants_bridge(controller))
        return {};
    std::string lines = site_lines(controller);
    if (auto own = for_each_setting(lines, refuse_own); !own)
        return refusal(own.error());
    // The site's come first here, so that the number is that of their line.
    if (auto all = parse_conf(lines + our_lines(controller)); !all)
        return refusal(all.error());
    return {};
}

bool schedules_pods(std::string_view text)
{
    bool schedules = true; // without such a line
    (void)for_each_setting(
        text, [&](std::string_view key, std::string_view value) -> Result<> {
            if (is_key(key, schedules_key))
                schedules = yes_or_no(value).value_or(true);
            return {};
        });
    return schedules;
}

} // namespace bridge::slinky
