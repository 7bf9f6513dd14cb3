// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/pod_cpus.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::int64_t thousand = 1000;
constexpr std::int64_t most = std::int64_t{1} << 60; // of a sum's parts

MilliCpu read_cpu(const Json &amounts)
{
    std::string text = amounts.at("cpu").text();
    auto cpu = text.empty() ? Result<MilliCpu>{} : parse_cpu(text);
    return cpu ? MilliCpu{std::min(cpu->value, most)} : MilliCpu{};
}

ContainerCpus read_container(const Json &container, ContainerCpus::Kind kind)
{
    ContainerCpus made{kind, read_cpu(container.at("resources/requests")), {}};
    for (const Json &use : container.items("resources/claims"))
        made.uses.push_back({use.text("name"), use.text("request")});
    return made;
}

std::int64_t cpus_of(const ClaimUse &use, const ClaimCpus &claims)
{
    auto claim = claims.find(use.entry);
    std::int64_t sum = 0;
    if (claim != claims.end())
        for (const auto &[request, cpus] : claim->second)
            if (use.request.empty() || use.request == request)
                sum += cpus;
    return sum;
}

// Returns what the container requests beyond the CPUs of the claims that it
// names.
std::int64_t beyond(const ContainerCpus &container, const ClaimCpus &claims)
{
    std::int64_t has = 0;
    for (const ClaimUse &use : container.uses)
        has += cpus_of(use, claims);
    return std::max<std::int64_t>(container.requests.value - has * thousand, 0);
}

std::int64_t add(std::int64_t a, std::int64_t b)
{
    return std::min(a + b, most);
}

} // namespace

PodCpus pod_cpus_of(const Json &pod)
{
    PodCpus made;
    for (const Json &container : pod.items("spec/initContainers"))
        made.containers.push_back(read_container(
            container, container.text("restartPolicy") == "Always"
                           ? ContainerCpus::Kind::sidecar
                           : ContainerCpus::Kind::init));
    for (const Json &container : pod.items("spec/containers"))
        made.containers.push_back(
            read_container(container, ContainerCpus::Kind::app));
    if (std::ranges::all_of(made.containers, [](const ContainerCpus &one) {
            return one.uses.empty();
        }))
        return {};
    made.overhead = read_cpu(pod.at("spec/overhead"));
    return made;
}

MilliCpu cpus_with_claims(const PodCpus &pod, MilliCpu requests,
                          const ClaimCpus &claims)
{
    std::int64_t in_claims = 0;
    for (const auto &[entry, by_request] : claims)
        for (const auto &[request, cpus] : by_request)
            in_claims += cpus * thousand;
    if (in_claims == 0)
        return requests;
    if (pod.containers.empty()) // nobody runs on them
        return MilliCpu{add(in_claims, requests.value)};
    // Adds up the containers as described in pod_requests.h.
    std::int64_t sum = 0;
    std::int64_t sidecars = 0;
    std::int64_t peak = 0;
    for (const ContainerCpus &container : pod.containers) {
        std::int64_t more = beyond(container, claims);
        if (container.kind == ContainerCpus::Kind::init)
            peak = std::max(peak, add(sidecars, more));
        else
            sum = add(sum, more);
        if (container.kind == ContainerCpus::Kind::sidecar) {
            sidecars = add(sidecars, more);
            peak = std::max(peak, sidecars);
        }
    }
    std::int64_t total =
        add(add(std::max(sum, peak), in_claims), pod.overhead.value);
    return MilliCpu{std::max(total, requests.value)};
}

} // namespace bridge
