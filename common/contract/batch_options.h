// SPDX-License-Identifier: GPL-2.0-or-later
// The options of sbatch for jobs that run as Pods: how they are called, how
// spank/k8s hands them to job_submit/k8s, and what their values may be. Pure.
// Each objection is what follows "must "; empty: there is none.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace bridge {

// Why this cannot be the name of an image. Whether there is such an image only
// a kubelet knows.
std::string objection_to_image(std::string_view image);

// NAME=VALUE, for the container's environment. What Slurm itself sets is not
// for users.
std::string objection_to_variable(std::string_view entry);

// Names of volumes that a site's template has, separated by commas.
std::string objection_to_volumes(std::string_view list);

// The name of an object in Kubernetes.
std::string objection_to_object_name(std::string_view name);

// Letters as in a DNS label: what Kubernetes calls volumes.
bool is_label(std::string_view name);

struct BatchOption {
    const char *name;     // "k8s-image", of the command line
    const char *argument; // as --help shows it
    const char *help;
    // In spank_job_env, and behind SBATCH_ in sbatch's environment. Of what can
    // be given often each has a number behind it, from _0.
    const char *variable;
    bool often;
    std::string (*objection)(std::string_view value);
};

enum class BatchOptionId { image, env, volume, service_account, name_space };

inline constexpr std::array<BatchOption, 5> batch_options{{
    {"k8s-image", "image",
     "run the job in a Kubernetes Pod with this container image "
     "(SBATCH_K8S_IMAGE)",
     "K8S_IMAGE", false, objection_to_image},
    {"k8s-env", "name=value",
     "set a variable in the container, also PATH; may be given often "
     "(SBATCH_K8S_ENV, one on each line)",
     "K8S_ENV", true, objection_to_variable},
    {"k8s-volume", "names",
     "mount volumes that this site has for it, separated by commas "
     "(SBATCH_K8S_VOLUME)",
     "K8S_VOLUME", true, objection_to_volumes},
    {"k8s-service-account", "name",
     "run as this ServiceAccount, where k8s.conf allows it "
     "(SBATCH_K8S_SERVICE_ACCOUNT)",
     "K8S_SERVICE_ACCOUNT", false, objection_to_object_name},
    {"k8s-namespace", "name",
     "run in this namespace, where k8s.conf allows it "
     "(SBATCH_K8S_NAMESPACE)",
     "K8S_NAMESPACE", false, objection_to_object_name},
}};

// So often one of them can be given.
inline constexpr std::size_t max_batch_repeats = 100;

} // namespace bridge
