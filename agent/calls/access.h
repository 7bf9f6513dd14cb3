// SPDX-License-Identifier: GPL-2.0-or-later
// What the API server lets us do: the verbs that each feature needs, asked of
// it by SelfSubjectAccessReview, and the answer for whoever is about to use
// one. The base's verbs are needed always; a feature beyond that is off while
// one of its verbs is missing. Asking writes nothing. Knows nothing of Slurm.
#pragma once

#include "common/base/result.h"
#include "common/contract/conf.h"
#include "common/kube/http.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace bridge {

// The base, and the components of contribs/kubernetes that give rights.
enum class Feature : std::uint8_t {
    base,
    nodes_patch,
    volumes,
    owners,
    pod_groups,
    pod_group_status,
    jobset_size,
    devices,
    extended_resources,
    sbatch,     // asked about only where k8s.conf has SbatchNamespace
    sbatch_srun // likewise
};

inline constexpr std::array all_features{
    Feature::base,        Feature::nodes_patch, Feature::volumes,
    Feature::owners,      Feature::pod_groups,  Feature::pod_group_status,
    Feature::jobset_size, Feature::devices,     Feature::extended_resources,
    Feature::sbatch,      Feature::sbatch_srun};

// The name of its component, such as "nodes-patch"; "base".
const char *feature_name(Feature feature);
// What to apply to have it, such as "contribs/kubernetes/components/owners";
// two features may be of one component.
std::string feature_manifest(Feature feature);

// One line of the table.
struct Right {
    Feature feature;
    const char *verb;
    const char *group; // "": the core group
    const char *resource;
    const char *subresource = "";
    enum class Where {
        everywhere,
        lease_namespace,
        lease,
        batch_namespace
    } where = Where::everywhere;

    // "patch pods/status", "create leases.coordination.k8s.io"
    std::string words() const;
};

std::span<const Right> needed_rights();

// What was found missing when all were asked; empty: nothing.
struct AccessReview {
    std::vector<Right> missing;

    bool may(Feature feature) const;
    // "patch nodes, list persistentvolumes"; "" when nothing.
    std::string lacks(Feature feature) const;
};

// Asks about every right, one short request each. An Error when any of them
// could not be asked: then nothing is known.
Result<AccessReview> review_access(Http &http, const Conf &conf);

std::string access_review_body(const Right &right, const Conf &conf);

// The answer in force. may() from any thread; until the first answer nothing
// but the base is allowed, and afterwards the last answer holds.
class Access {
  public:
    // Everything is allowed: for tests, and where nobody asks.
    static const Access &unlimited();

    bool may(Feature feature) const;
    // For a thread whose whole work needs the feature: false when stop came
    // first.
    bool wait_until_may(Feature feature, std::stop_token stop) const;

    // Until there was an answer: false when stop came first.
    bool wait_until_answered(std::stop_token stop) const;

    void set(const AccessReview &review);
    // Whether there was an answer: a feature that is off may be so for want of
    // one only.
    bool answered() const;

  private:
    std::atomic<std::uint32_t> allowed_{1u << unsigned(Feature::base)};
    mutable std::mutex mutex_;
    mutable std::condition_variable_any changed_;
};

} // namespace bridge
