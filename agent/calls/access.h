// SPDX-License-Identifier: GPL-2.0-or-later
// The rights of the agent at the API server: the verbs that each feature needs,
// queried with SelfSubjectAccessReviews, and the answer for those that want to
// use a feature. The base's verbs are always needed; any other feature is off
// while one of its verbs is missing. Queries write nothing. Knows nothing of
// Slurm.
#pragma once

#include "agent/objects/group_spec.h"
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

// The base, and the components of contribs/kubernetes that grant rights.
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
    token_renewal, // in the base; queried only if k8s.conf has KubeTokenFile
    sbatch,        // queried only if k8s.conf has SbatchNamespace
    sbatch_srun    // likewise
};

inline constexpr std::array all_features{
    Feature::base,          Feature::nodes_patch, Feature::volumes,
    Feature::owners,        Feature::pod_groups,  Feature::pod_group_status,
    Feature::jobset_size,   Feature::devices,     Feature::extended_resources,
    Feature::token_renewal, Feature::sbatch,      Feature::sbatch_srun};

// Returns the name of its component, such as "nodes-patch"; "base" for the
// base.
const char *feature_name(Feature feature);
// Returns the feature that reads the objects of that API; it must not be none.
Feature feature_of(GroupApi api);
// Returns the manifest to apply for it, such as
// "contribs/kubernetes/components/owners"; two features may share a component.
std::string feature_manifest(Feature feature);

// One line of the table of rights.
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
        own_account, // the ServiceAccount of contribs/kubernetes
        batch_namespace
    } where = Where::everywhere;

    // Returns "patch pods/status" or "create leases.coordination.k8s.io".
    std::string words() const;
};

std::span<const Right> needed_rights();

// The missing rights; empty: none.
struct AccessReview {
    std::vector<Right> missing;

    bool may(Feature feature) const;
    // Returns "patch nodes, list persistentvolumes", or "" if nothing is
    // missing.
    std::string missing_rights(Feature feature) const;
};

// Whether an agent with this k8s.conf needs the right. Of workers it finds out
// by using it.
bool is_needed(const Right &right, const Conf &conf);

// Queries every right that is needed, with one short request each. Fails if any
// right could not be queried: then nothing is known.
Result<AccessReview> review_access(Http &http, const Conf &conf);

std::string access_review_body(const Right &right, const Conf &conf);

// The rights in force. Thread-safe. Until the first answer only the base is
// allowed; afterwards the last answer holds.
class Access {
  public:
    // Allows everything: for tests, and where nobody asks.
    static const Access &unlimited();

    bool may(Feature feature) const;
    // For a thread that needs the feature for all its work. Returns false if
    // stop came first.
    bool wait_until_may(Feature feature, std::stop_token stop) const;

    // Waits for the first answer. Returns false if stop came first.
    bool wait_until_answered(std::stop_token stop) const;

    void set(const AccessReview &review);
    // Whether there was an answer; until then a feature may be off only because
    // of that.
    bool answered() const;

  private:
    std::atomic<std::uint32_t> allowed_{1u << unsigned(Feature::base)};
    mutable std::mutex mutex_;
    mutable std::condition_variable_any changed_;
};

} // namespace bridge
