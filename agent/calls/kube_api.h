// SPDX-License-Identifier: GPL-2.0-or-later
// What the agent says to the Kubernetes API server, one call each. Kube is the
// seam at which tests put a fake in; both pass the same contract tests. Every
// call blocks for at most the HTTP timeout and may be made from any worker
// thread; one KubeApi belongs to one thread. Knows nothing of Slurm.
//
// Codes, from every call: busy (429, 5xx, nobody answers, nothing was done),
// uncertain (the connection broke after the request was sent), not_found,
// conflict (another uid or version), denied (401, 403), rejected (400, 422). Of
// Services and ConfigMaps 401 is busy: a job does without what is denied.
#pragma once

#include "agent/claims/resource_claim.h"
#include "agent/objects/group_spec.h"
#include "agent/objects/node_patch.h"
#include "agent/objects/objects.h"
#include "common/base/result.h"
#include "common/kube/http.h"

#include <chrono>
#include <functional>
#include <string>

namespace bridge {

// What a binding writes, in one request.
struct Binding {
    std::string node;
    TextMap labels;
    TextMap annotations;
};

struct PodEvent {
    enum class Type { normal, warning };

    Type type = Type::normal;
    std::string reason; // such as "Scheduled"
    std::string action; // such as "Binding"
    std::string note;   // cut to 1,024 bytes
};

// A ResourceClaim as the API server has it. text is its JSON, for a PUT that
// changes a part of it: see agent/claims/allocation.h.
struct ClaimText {
    ResourceClaim claim;
    std::string text;
};

class Kube {
  public:
    virtual ~Kube() = default;

    // Assigns the Pod to a node and stamps it in the same write. The uid guards
    // against a Pod that was deleted and made again under its name. The API
    // server checks neither label values nor annotation keys nor the node's
    // name, so this does, and says Code::rejected. An uncertain outcome is
    // looked up: success if the Pod is on that node.
    virtual Result<> bind(const Pod &pod, const Binding &binding) = 0;

    // PodScheduled=False with this reason and message. Does nothing when the
    // Pod already says so. Code::conflict when the Pod has changed since.
    virtual Result<> set_unscheduled(const Pod &pod, const std::string &reason,
                                     const std::string &message) = 0;

    // Makes an unbound Pod phase Failed with this reason and message;
    // Code::conflict when the Pod is bound or has changed since it was read.
    virtual Result<> fail_pod(const Pod &pod, const std::string &reason,
                              const std::string &message) = 0;

    // Sets these labels and annotations, and leaves the others. Code::conflict
    // when the Pod was not bound and has changed since.
    virtual Result<> stamp(const Pod &pod, const TextMap &labels,
                           const TextMap &annotations) = 0;

    // Lets its kubelet end a bound Pod, with its own grace period, so that the
    // object and the logs stay: phase Failed, reason DeadlineExceeded.
    virtual Result<> expire_pod(const Pod &pod) = 0;

    // Sets the DisruptionTarget condition, by which a Job's podFailurePolicy
    // knows that the Pod's end is nobody's failure. Does nothing when the Pod
    // has one.
    virtual Result<> set_disrupted(const Pod &pod, const std::string &reason,
                                   const std::string &message) = 0;

    // Deletes the Pod if its PodDisruptionBudgets allow it, else
    // Code::rejected; success as for delete_pod().
    virtual Result<> evict_pod(const Pod &pod) = 0;

    // Deletes the Pod with its own grace period; success if it is gone or
    // another Pod has taken its name.
    virtual Result<> delete_pod(const Pod &pod) = 0;
    // Deletes a Pod that is on no node, as it was read: Code::conflict, and
    // nothing is done, when it is bound or has changed since. Success likewise.
    virtual Result<> delete_unbound(const Pod &pod) = 0;

    virtual Result<Pod> get_pod(const ObjectKey &key) = 0;

    // As it is then; Code::conflict when its name is taken, denied also where a
    // quota is full.
    virtual Result<Pod> create_pod(const std::string &ns,
                                   const std::string &body) = 0;
    // Whether it would be taken: success also when its name is. Nothing is
    // made.
    virtual Result<> try_pod(const std::string &ns,
                             const std::string &body) = 0;
    // One that has the name is deleted first: nobody may read it.
    virtual Result<> put_secret(const ObjectKey &key,
                                const std::string &body) = 0;
    // Success also when there is none.
    virtual Result<> delete_secret(const ObjectKey &key) = 0;

    // Of batch jobs of several nodes. Code::conflict where one has the name.
    virtual Result<> create_service(const ObjectKey &key,
                                    const std::string &body) = 0;
    virtual Result<> create_config_map(const ObjectKey &key,
                                       const std::string &body) = 0;
    // Code::not_found: there is none.
    virtual Result<Json> get_service(const ObjectKey &key) = 0;
    virtual Result<Json> get_config_map(const ObjectKey &key) = 0;
    // By the metadata alone.
    virtual Result<std::string> get_config_map_uid(const ObjectKey &key) = 0;
    // The IP addresses of the Pods with that label, by uid; nothing of those
    // that have none yet.
    virtual Result<TextMap> addresses_of(const std::string &ns,
                                         const std::string &label,
                                         const std::string &value) = 0;

    // All Pods of a namespace: for what is asked seldom.
    virtual Result<std::vector<Pod>> list_pods(const std::string &ns) = 0;

    // The Pod's claims and what is behind them, one request each; those of a
    // class without provisioner also list all volumes.
    virtual Result<VolumeFacts> read_volumes(const Pod &pod) = 0;

    // Tells a claim that waits for its first consumer where that will be.
    // Code::conflict when the claim has changed since it was read.
    virtual Result<> select_node(const Claim &claim,
                                 const std::string &node) = 0;

    // Gives a free volume to a claim; Code::conflict likewise.
    virtual Result<> give_volume(const Volume &volume, const Claim &claim) = 0;

    virtual Result<ClaimText> read_claim(const ObjectKey &key) = 0;
    // What of the body is not status, or only that; as it is then. The body is
    // a claim that was read: Code::conflict when it has changed since.
    virtual Result<ClaimText> write_claim(const ObjectKey &key,
                                          const std::string &body) = 0;
    virtual Result<ClaimText> write_claim_status(const ObjectKey &key,
                                                 const std::string &body) = 0;

    // As it is then; Code::conflict when its name is taken, denied also where a
    // quota is full.
    virtual Result<ClaimText> create_claim(const std::string &ns,
                                           const std::string &body) = 0;
    // Success also when it is gone, or another claim has its name.
    virtual Result<> delete_claim(const ObjectKey &key,
                                  const std::string &uid) = 0;
    // status.extendedResourceClaimStatus. False: the API server has not kept
    // it, for want of its feature gate.
    virtual Result<bool>
    set_extended_claim(const Pod &pod, const ExtendedClaimStatus &status) = 0;

    // The metadata of what owns an object of that namespace. Code::not_found
    // also when it is of another uid, or of a kind that is not known here.
    virtual Result<Workload> get_owner(const std::string &ns,
                                       const OwnerRef &owner) = 0;

    // Code::conflict when the Node has changed since it was read.
    virtual Result<> patch_node(const NodePatch &patch) = 0;

    // A condition on the status of a PodGroup. Code::conflict when that has
    // changed since it was read.
    virtual Result<> patch_group(const GroupPatch &patch) = 0;

    // Best effort: an Event that cannot be written is only worth a debug line.
    virtual Result<> post_event(const Pod &pod, const PodEvent &event) = 0;
    virtual Result<> post_node_event(const Node &node,
                                     const PodEvent &event) = 0;
};

class KubeApi : public Kube {
  public:
    // reporter is the reportingController of Events, such as the scheduler's
    // name; instance tells two agents apart.
    KubeApi(HttpEndpoint endpoint, std::string reporter, std::string instance);

    Result<> bind(const Pod &pod, const Binding &binding) override;
    Result<> set_unscheduled(const Pod &pod, const std::string &reason,
                             const std::string &message) override;
    Result<> fail_pod(const Pod &pod, const std::string &reason,
                      const std::string &message) override;
    Result<> stamp(const Pod &pod, const TextMap &labels,
                   const TextMap &annotations) override;
    Result<> expire_pod(const Pod &pod) override;
    Result<> set_disrupted(const Pod &pod, const std::string &reason,
                           const std::string &message) override;
    Result<> evict_pod(const Pod &pod) override;
    Result<> delete_pod(const Pod &pod) override;
    Result<> delete_unbound(const Pod &pod) override;
    Result<Pod> get_pod(const ObjectKey &key) override;
    Result<Pod> create_pod(const std::string &ns,
                           const std::string &body) override;
    Result<> try_pod(const std::string &ns, const std::string &body) override;
    Result<> put_secret(const ObjectKey &key, const std::string &body) override;
    Result<> delete_secret(const ObjectKey &key) override;
    Result<> create_service(const ObjectKey &key,
                            const std::string &body) override;
    Result<> create_config_map(const ObjectKey &key,
                               const std::string &body) override;
    Result<Json> get_service(const ObjectKey &key) override;
    Result<Json> get_config_map(const ObjectKey &key) override;
    Result<std::string> get_config_map_uid(const ObjectKey &key) override;
    Result<TextMap> addresses_of(const std::string &ns,
                                 const std::string &label,
                                 const std::string &value) override;
    Result<std::vector<Pod>> list_pods(const std::string &ns) override;
    Result<VolumeFacts> read_volumes(const Pod &pod) override;
    Result<> select_node(const Claim &claim, const std::string &node) override;
    Result<> give_volume(const Volume &volume, const Claim &claim) override;
    Result<ClaimText> read_claim(const ObjectKey &key) override;
    Result<ClaimText> write_claim(const ObjectKey &key,
                                  const std::string &body) override;
    Result<ClaimText> write_claim_status(const ObjectKey &key,
                                         const std::string &body) override;
    Result<ClaimText> create_claim(const std::string &ns,
                                   const std::string &body) override;
    Result<> delete_claim(const ObjectKey &key,
                          const std::string &uid) override;
    Result<bool> set_extended_claim(const Pod &pod,
                                    const ExtendedClaimStatus &status) override;
    Result<Workload> get_owner(const std::string &ns,
                               const OwnerRef &owner) override;
    Result<> patch_node(const NodePatch &patch) override;
    Result<> patch_group(const GroupPatch &patch) override;
    Result<> post_event(const Pod &pod, const PodEvent &event) override;
    Result<> post_node_event(const Node &node, const PodEvent &event) override;

  private:
    // query: more of it, from "&" on. what: for the error.
    Result<> for_each_pod(const std::string &ns, const std::string &query,
                          const std::string &what,
                          const std::function<void(const Json &)> &each);
    Result<> create_named(const char *resource, const ObjectKey &key,
                          const std::string &body);
    Result<Json> get_named(const char *resource, const ObjectKey &key);
    Result<> send_event(const std::string &ns, const std::string &body,
                        const std::string &what);
    Result<> check_removal(const Pod &pod, const Result<HttpReply> &reply,
                           const std::string &what);
    bool is_gone(const Pod &pod);
    // What became of a binding whose reply does not tell.
    Result<> look_up(const Pod &pod, const Binding &binding, const Error &said);

    Http http_;
    std::string reporter_;
    std::string instance_;
};

} // namespace bridge
