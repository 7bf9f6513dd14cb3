// SPDX-License-Identifier: GPL-2.0-or-later
// The options of sbatch for jobs that run as Pods: their names, how spank/k8s
// passes them to job_submit/k8s, and which values are valid. Pure. Each
// unfit_…_reason() returns the reason for which a value is invalid, as the
// words that follow "must "; empty if the value is valid.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace bridge {

// Checks the form of an image name. Whether the image exists is known to
// kubelets only.
std::string unfit_image_reason(std::string_view image);

// Checks NAME=VALUE for the container's environment. Names that begin with
// SLURM are refused: Slurm sets those variables.
std::string unfit_variable_reason(std::string_view entry);

// Checks a list of volumes of the site's template, separated by commas.
std::string unfit_volumes_reason(std::string_view list);

// Checks the name of a Kubernetes object.
std::string unfit_object_name_reason(std::string_view name);

// Tells whether name is a DNS label, as names of volumes are in Kubernetes.
bool is_label(std::string_view name);

struct BatchOption {
    const char *name;     // on the command line
    const char *argument; // as --help shows it
    const char *help;
    // The name in spank_job_env, and after SBATCH_ in sbatch's environment. The
    // names of a repeatable option end in a number, beginning with _0.
    const char *variable;
    bool often;
    std::string (*unfit_reason)(std::string_view value);
};

enum class BatchOptionId { image, env, volume, service_account, name_space };

inline constexpr std::array<BatchOption, 5> batch_options{{
    {"k8s-image", "image",
     "run the job in a Kubernetes Pod with this container image "
     "(SBATCH_K8S_IMAGE)",
     "K8S_IMAGE", false, unfit_image_reason},
    {"k8s-env", "name=value",
     "set a variable in the container, including PATH; may be repeated "
     "(SBATCH_K8S_ENV, one on each line)",
     "K8S_ENV", true, unfit_variable_reason},
    {"k8s-volume", "names",
     "mount these volumes that the site offers, separated by commas "
     "(SBATCH_K8S_VOLUME)",
     "K8S_VOLUME", true, unfit_volumes_reason},
    {"k8s-service-account", "name",
     "run as this ServiceAccount, where k8s.conf allows it "
     "(SBATCH_K8S_SERVICE_ACCOUNT)",
     "K8S_SERVICE_ACCOUNT", false, unfit_object_name_reason},
    {"k8s-namespace", "name",
     "run in this namespace, where k8s.conf allows it "
     "(SBATCH_K8S_NAMESPACE)",
     "K8S_NAMESPACE", false, unfit_object_name_reason},
}};

// How often a repeatable option may be given.
inline constexpr std::size_t max_batch_repeats = 100;

} // namespace bridge
