// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/extended_resources.h"

#include "common/base/units.h"

#include <algorithm>
#include <map>

namespace bridge {

namespace {

constexpr std::int64_t most = 1'000'000; // far beyond what a claim can have

std::vector<ExtendedAmount> amounts_of(const Json &container)
{
    std::map<std::string, std::string> asked; // by name, as they are counted
    for (const auto &[name, amount] : container.members("resources/requests"))
        asked[name] = amount.text();
    std::vector<ExtendedAmount> made;
    std::size_t place = 0;
    for (const auto &[name, amount] : asked) {
        auto count = is_extended_resource(name) ? parse_count(amount) : 0;
        if (count && *count > 0)
            made.push_back({name, std::min(*count, most), place});
        place++;
    }
    return made;
}

void add_containers(const Json &pod, const char *list, bool init,
                    std::size_t &index, std::vector<ContainerAsks> &into)
{
    for (const Json &container : pod.items(list)) {
        bool sidecar = container.text("restartPolicy") == "Always";
        auto amounts = amounts_of(container);
        if (!amounts.empty())
            into.push_back({container.text("name"), index, init && !sidecar,
                            std::move(amounts)});
        index++;
    }
}

} // namespace

// Follows kube-scheduler's IsDRAExtendedResourceName().
bool is_extended_resource(std::string_view resource)
{
    if (resource.starts_with(class_resource_prefix))
        return true;
    return resource.contains('/') && !resource.contains("kubernetes.io/") &&
           !resource.starts_with("requests.");
}

std::vector<ContainerAsks> extended_resources_of(const Json &pod)
{
    std::vector<ContainerAsks> made;
    std::size_t index = 0;
    add_containers(pod, "spec/initContainers", true, index, made);
    add_containers(pod, "spec/containers", false, index, made);
    return made;
}

} // namespace bridge
