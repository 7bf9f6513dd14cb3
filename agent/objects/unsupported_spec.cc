// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/unsupported_spec.h"

#include "agent/objects/extended_resources.h"
#include "common/base/units.h"

#include <algorithm>
#include <set>

namespace bridge {

namespace {

std::string unsupported(const std::string &what)
{
    return what + " is not supported by slurm-k8s-bridge yet";
}

std::vector<Json> all_containers(const Json &spec)
{
    std::vector<Json> all = spec.items("initContainers");
    std::ranges::copy(spec.items("containers"), std::back_inserter(all));
    return all;
}

bool is_required(const Json &spec, const std::string &affinity)
{
    Json rule = spec.at("affinity/" + affinity +
                        "/requiredDuringSchedulingIgnoredDuringExecution");
    return rule.is_object() || !rule.items().empty();
}

bool spreads(const Json &spec)
{
    return std::ranges::any_of(
        spec.items("topologySpreadConstraints"), [](const Json &rule) {
            return rule.text("whenUnsatisfiable") != "ScheduleAnyway";
        });
}

// Returns true if the Pod uses ports of the host; with hostNetwork every port
// is one.
bool takes_host_ports(const Json &spec)
{
    bool host_network = spec.flag("hostNetwork");
    for (const Json &container : all_containers(spec))
        for (const Json &port : container.items("ports"))
            if (host_network || port.integer("hostPort").value_or(0) != 0)
                return true;
    return false;
}

// Extended resources count as known: the DeviceClasses of the cluster decide
// about these (agent/gres/extended_claim.h).
bool is_known(const std::string &resource)
{
    return resource == "cpu" || resource == "memory" ||
           resource == "ephemeral-storage" || resource == "pods" ||
           is_extended_resource(resource);
}

// Returns the names of the unknown resources, sorted. An amount of 0 requests
// nothing.
std::set<std::string> unknown_resources(const Json &spec)
{
    std::set<std::string> names;
    for (const Json &container : all_containers(spec))
        for (const auto &[name, amount] :
             container.members("resources/requests"))
            if (!is_known(name) && parse_count(amount.text()) != 0)
                names.insert(name);
    return names;
}

} // namespace

std::vector<std::string> unsupported_spec_reasons(const Json &pod)
{
    Json spec = pod.at("spec");
    std::vector<std::string> found;
    auto object_if = [&](bool wrong, const std::string &what) {
        if (wrong)
            found.push_back(unsupported(what));
    };
    object_if(is_required(spec, "podAffinity"), "required inter-Pod affinity");
    object_if(is_required(spec, "podAntiAffinity"),
              "required inter-Pod anti-affinity");
    object_if(spreads(spec),
              "spec.topologySpreadConstraints with DoNotSchedule");
    object_if(takes_host_ports(spec), "hostPort");
    object_if(spec.integer("terminationGracePeriodSeconds").value_or(0) >
                  max_grace_period,
              "a terminationGracePeriodSeconds above " +
                  std::to_string(max_grace_period));
    // It would be gone as soon as it is deleted, while its containers stop.
    object_if(spec.integer("terminationGracePeriodSeconds") == 0,
              "a terminationGracePeriodSeconds of 0");
    for (const std::string &name : unknown_resources(spec))
        found.push_back(unsupported("the resource " + name));
    return found;
}

} // namespace bridge
