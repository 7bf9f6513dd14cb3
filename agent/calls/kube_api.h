// SPDX-License-Identifier: GPL-2.0-or-later
// The agent's requests to the Kubernetes API server, one method each. Tests
// replace Kube with a fake; both pass the same contract tests. Every call
// blocks for at most the HTTP timeout and may be made from any worker thread;
// one KubeApi belongs to one thread. Its writes pass the write gate
// (gated_http.h). Knows nothing of Slurm.
//
// Codes, from every call: busy (429, 5xx, nobody answers, nothing was done),
// uncertain (the connection broke after the request was sent), not_found,
// conflict (another uid or version), denied (401, 403), rejected (400, 422).
// For Services and ConfigMaps 401 is busy, because a job goes on without them
// when they are denied.
#pragma once

#include "agent/calls/gated_http.h"
#include "agent/claims/resource_claim.h"
#include "agent/objects/group_spec.h"
#include "agent/objects/node_patch.h"
#include "agent/objects/objects.h"
#include "common/base/result.h"
#include "common/kube/http.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace bridge {

// What a binding writes in one request.
struct Binding {
    std::string node;
    TextMap labels;
    TextMap annotations;
};

// What a Pod that waits shows to users and to programs.
struct PodWait {
    std::string reason; // of PodScheduled: agent/decide/messages.h
    std::string message;
    std::string node = {}; // that it is about to be bound to; empty: none
};

struct PodEvent {
    enum class Type { normal, warning };

    Type type = Type::normal;
    std::string reason; // such as "Scheduled"
    std::string action; // such as "Binding"
    std::string note;   // cut to 1,024 bytes
};

// A ResourceClaim as the API server has it. text: its JSON, for a PUT that
// changes a part of it, see agent/claims/allocation.h.
struct ClaimText {
    ResourceClaim claim;
    std::string text;
};

class Kube {
  public:
    virtual ~Kube() = default;

    // Assigns the Pod to a node and writes labels and annotations in the same
    // request. The uid guards against a Pod that was deleted and recreated
    // under its name. The API server checks neither label values nor annotation
    // keys nor the node's name; this method does and fails with Code::rejected.
    // It looks up an uncertain outcome: success if the Pod is on that node.
    virtual Result<> bind(const Pod &pod, const Binding &binding) = 0;

    // Sets PodScheduled=False with this reason and message, and
    // nominatedNodeName. Does nothing if the Pod already says so.
    // Code::conflict if the Pod has changed since it was read.
    virtual Result<> set_unscheduled(const Pod &pod, const PodWait &wait) = 0;

    // Sets an unbound Pod to phase Failed with this reason and message.
    // Code::conflict if the Pod is bound or has changed since it was read.
    virtual Result<> fail_pod(const Pod &pod, const std::string &reason,
                              const std::string &message) = 0;

    // Sets these labels and annotations and keeps all others. Code::conflict if
    // the Pod was read unbound and has changed since.
    virtual Result<> stamp(const Pod &pod, const TextMap &labels,
                           const TextMap &annotations) = 0;

    // Makes the kubelet end a bound Pod, with the Pod's own grace period, so
    // that the object and the logs stay: phase Failed, reason DeadlineExceeded.
    virtual Result<> expire_pod(const Pod &pod) = 0;

    // Sets the DisruptionTarget condition, by which a Job's podFailurePolicy
    // knows that the Pod's end is nobody's failure. Does nothing if the Pod has
    // one.
    virtual Result<> set_disrupted(const Pod &pod, const std::string &reason,
                                   const std::string &message) = 0;

    // Evicts the Pod with this grace period (1 s or more) if its
    // PodDisruptionBudgets allow it, else Code::rejected. Success as for
    // delete_pod().
    virtual Result<> evict_pod(const Pod &pod, std::chrono::seconds grace) = 0;

    // Deletes the Pod with its own grace period. Success also if it is gone or
    // another Pod has its name.
    virtual Result<> delete_pod(const Pod &pod) = 0;
    // Deletes the Pod with this grace period, 1 s or more. If it is being
    // deleted already, the API server shortens the grace period of that
    // deletion, and never lengthens it. Success as for delete_pod().
    virtual Result<> delete_within(const Pod &pod,
                                   std::chrono::seconds grace) = 0;
    // Deletes a Pod that is on no node and has not changed since it was read,
    // else Code::conflict. Success as for delete_pod().
    virtual Result<> delete_unbound(const Pod &pod) = 0;

    virtual Result<Pod> get_pod(const ObjectKey &key) = 0;

    // Returns the created object. Code::conflict if its name is taken, denied
    // also if a quota is exhausted.
    virtual Result<Pod> create_pod(const std::string &ns,
                                   const std::string &body) = 0;
    // Checks whether the Pod would be accepted; nothing is created. Success
    // also if its name is taken.
    virtual Result<> try_pod(const std::string &ns,
                             const std::string &body) = 0;
    // Creates the Secret. One with this name is deleted first, because the
    // agent has no right to read it.
    virtual Result<> put_secret(const ObjectKey &key,
                                const std::string &body) = 0;
    // Success also if there is none.
    virtual Result<> delete_secret(const ObjectKey &key) = 0;

    // For multi-node batch jobs. Code::conflict if one has the name.
    virtual Result<> create_service(const ObjectKey &key,
                                    const std::string &body) = 0;
    virtual Result<> create_config_map(const ObjectKey &key,
                                       const std::string &body) = 0;
    // Code::not_found if there is none.
    virtual Result<Json> get_service(const ObjectKey &key) = 0;
    virtual Result<Json> get_config_map(const ObjectKey &key) = 0;
    // Reads only the metadata.
    virtual Result<std::string> get_config_map_uid(const ObjectKey &key) = 0;
    // Returns the IP addresses of the Pods with this label, by uid. Pods
    // without an address are left out.
    virtual Result<TextMap> addresses_of(const std::string &ns,
                                         const std::string &label,
                                         const std::string &value) = 0;

    // Returns all Pods of a namespace; call it rarely.
    virtual Result<std::vector<Pod>> list_pods(const std::string &ns) = 0;
    // Returns those that have this label, with any value.
    virtual Result<std::vector<Pod>>
    list_pods_with_label(const std::string &ns, const std::string &label) = 0;

    // Reads the Pod's volume claims and their volumes and classes, one request
    // each. For a class without provisioner it also returns the free volumes of
    // that class, as one list of all says that serves all Pods for some seconds
    // (volume_list.h); Code::busy while the first list is being read.
    virtual Result<VolumeFacts> read_volumes(const Pod &pod) = 0;

    // Sets the node of a claim that waits for its first consumer.
    // Code::conflict if the claim has changed since it was read.
    virtual Result<> select_node(const Claim &claim,
                                 const std::string &node) = 0;

    // Gives a free volume to a claim. Code::conflict if the volume has changed
    // since it was read.
    virtual Result<> give_volume(const Volume &volume, const Claim &claim) = 0;

    virtual Result<ClaimText> read_claim(const ObjectKey &key) = 0;
    // Writes the claim except its status, or only its status, and returns the
    // result. The body is a claim that was read before: Code::conflict if it
    // has changed since.
    virtual Result<ClaimText> write_claim(const ObjectKey &key,
                                          const std::string &body) = 0;
    virtual Result<ClaimText> write_claim_status(const ObjectKey &key,
                                                 const std::string &body) = 0;

    // Returns the created object. Code::conflict if its name is taken, denied
    // also if a quota is exhausted.
    virtual Result<ClaimText> create_claim(const std::string &ns,
                                           const std::string &body) = 0;
    // Success also if it is gone, or another claim has its name.
    virtual Result<> delete_claim(const ObjectKey &key,
                                  const std::string &uid) = 0;
    // Writes status.extendedResourceClaimStatus. Returns false if the API
    // server has not stored it because its feature gate is off.
    virtual Result<bool>
    set_extended_claim(const Pod &pod, const ExtendedClaimStatus &status) = 0;

    // Returns the metadata of an owner in this namespace. Code::not_found also
    // if it has another uid or is of an unsupported kind.
    virtual Result<Workload> get_owner(const std::string &ns,
                                       const OwnerRef &owner) = 0;

    // Code::conflict if the Node has changed since it was read.
    virtual Result<> patch_node(const NodePatch &patch) = 0;

    // Writes the status of a PodGroup. Code::conflict if the PodGroup has
    // changed since it was read.
    virtual Result<> patch_group(const GroupPatch &patch) = 0;

    // Best effort: a failure deserves only a debug message.
    virtual Result<> post_event(const Pod &pod, const PodEvent &event) = 0;
    virtual Result<> post_node_event(const Node &node,
                                     const PodEvent &event) = 0;
};

class VolumeList;

class KubeApi : public Kube {
  public:
    // reporter: the reportingController of Events, such as the scheduler's
    // name. instance: tells two agents apart. volumes: what all of one agent
    // share; null: nothing. The gate must outlive this.
    KubeApi(HttpEndpoint endpoint, const WriteGate &gate, std::string reporter,
            std::string instance, std::shared_ptr<VolumeList> volumes = {});

    Result<> bind(const Pod &pod, const Binding &binding) override;
    Result<> set_unscheduled(const Pod &pod, const PodWait &wait) override;
    Result<> fail_pod(const Pod &pod, const std::string &reason,
                      const std::string &message) override;
    Result<> stamp(const Pod &pod, const TextMap &labels,
                   const TextMap &annotations) override;
    Result<> expire_pod(const Pod &pod) override;
    Result<> set_disrupted(const Pod &pod, const std::string &reason,
                           const std::string &message) override;
    Result<> evict_pod(const Pod &pod, std::chrono::seconds grace) override;
    Result<> delete_pod(const Pod &pod) override;
    Result<> delete_within(const Pod &pod, std::chrono::seconds grace) override;
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
    Result<std::vector<Pod>>
    list_pods_with_label(const std::string &ns,
                         const std::string &label) override;
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
    // query: appended to the URL, begins with "&". what: for the error message.
    Result<> for_each_pod(const std::string &ns, const std::string &query,
                          const std::string &what,
                          const std::function<void(const Json &)> &each);
    // Those that the query selects.
    Result<std::vector<Pod>> pods_that(const std::string &ns,
                                       const std::string &query,
                                       const std::string &what);
    Result<> create_named(Write write, const char *resource,
                          const ObjectKey &key, const std::string &body);
    Result<Json> get_named(const char *resource, const ObjectKey &key);
    Result<> send_event(const std::string &ns, const std::string &body,
                        const std::string &what);
    Result<> check_removal(const Pod &pod, const Result<HttpReply> &reply,
                           const std::string &what);
    bool is_gone(const Pod &pod);
    // Finds the outcome of a binding whose reply does not tell.
    Result<> confirm_binding(const Pod &pod, const Binding &binding,
                             const Error &said);

    GatedHttp http_;
    std::string reporter_;
    std::string instance_;
    std::shared_ptr<VolumeList> volumes_;
};

} // namespace bridge
