// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/pod_start.h"

#include "common/contract/batch_names.h"

#include <algorithm>
#include <string_view>

namespace bridge {

namespace {

// Reasons that an image or a template causes, or may cause.
constexpr std::string_view reasons[] = {
    "InvalidImageName", "ErrImageNeverPull",    "ErrImagePull",
    "ImagePullBackOff", "CreateContainerError", "CreateContainerConfigError"};

// Volumes that the kubelet creates by itself or from objects of the API server.
// Other volumes depend on storage, which may take its time.
constexpr std::string_view plain_volumes[] = {
    "configMap", "secret", "downwardAPI", "projected", "emptyDir", "hostPath"};

bool has_srun(const Json &pod)
{
    return pod.at("metadata/annotations")
        .member(names::batch_srun_annotation)
        .present();
}

bool is_plain(const Json &volume)
{
    return std::ranges::any_of(plain_volumes, [&](std::string_view kind) {
        return volume.at(kind).is_object();
    });
}

// Returns true if the Pod's volumes or network are not ready yet. Images are
// pulled after that.
bool is_unready(const Json &pod)
{
    return std::ranges::any_of(
        pod.items("status/conditions"), [](const Json &condition) {
            return condition.text("type") == "PodReadyToStartContainers" &&
                   condition.text("status") == "False";
        });
}

} // namespace

std::string not_started_reason(const Json &pod)
{
    for (const Json &container : pod.items("status/containerStatuses")) {
        std::string reason = container.text("state/waiting/reason");
        if (std::ranges::contains(reasons, reason))
            return reason + ": " + container.text("state/waiting/message");
    }
    // The nodes of the job stay allocated while the Pod cannot start, which may
    // be for good: the ConfigMap with srun may be gone.
    if (has_srun(pod) && is_unready(pod) &&
        std::ranges::all_of(pod.items("spec/volumes"), is_plain))
        return "its kubelet cannot start the container: a volume or its "
               "network is missing, see the Pod's Events";
    return {};
}

} // namespace bridge
