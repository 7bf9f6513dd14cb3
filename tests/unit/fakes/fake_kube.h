// SPDX-License-Identifier: GPL-2.0-or-later
// A Kube in memory, for tests of whole flows: it keeps Pods, answers as the API
// server does (kube_contract.h holds both to the same), records every call, and
// fails where a test wants it to. Safe from several threads.
#pragma once

#include "agent/calls/kube_api.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

class FakeKube : public Kube {
  public:
    // Called after each change, as a watch would tell it, without the lock.
    using OnChange = std::function<void(const Pod &pod, bool deleted)>;

    struct Call {
        std::string what; // "bind", "delete_pod", … as the methods are called
        ObjectKey key;
        std::string detail; // node; reason; name=value

        bool operator==(const Call &) const = default;
    };

    // --- what users, kubelets and controllers do

    // Makes or replaces a Pod; gives it a uid unless it has one.
    Pod put(Pod pod);
    // A kubelet's or a user's write. False when there is no such Pod.
    bool change(const ObjectKey &key, const std::function<void(Pod &)> &edit);
    // The object goes, as after the last container of a deleted Pod ended: its
    // last state has a terminal phase.
    bool erase(const ObjectKey &key);
    // The object goes by force, whatever its containers do.
    bool vanish(const ObjectKey &key);
    std::optional<Pod> find(const ObjectKey &key) const;
    std::vector<Pod> pods() const;
    void on_change(OnChange callback);

    // The JSON of a Secret; "" when there is none.
    std::string secret(const ObjectKey &key) const;

    // The JSON of Services and of ConfigMaps, by name.
    std::map<ObjectKey, std::string> services;
    std::map<ObjectKey, std::string> config_maps;
    // What create_pod() was sent, likewise.
    std::map<ObjectKey, std::string> pod_bodies;
    // The IP addresses that kubelets have given Pods, by uid.
    TextMap addresses;

    // Makes or replaces a ResourceClaim, given as its JSON; tells on_claim.
    void put_claim(const std::string &text);
    void erase_claim(const ObjectKey &key);
    // Its JSON; "" when there is none.
    std::string claim(const ObjectKey &key) const;
    std::vector<ResourceClaim> claims() const;
    std::function<void(const ResourceClaim &claim, bool deleted)> on_claim;
    // Called before a claim's write is looked at: a test's own write.
    std::function<void(const ObjectKey &key)> before_claim_write;

    // Where patches of Nodes go; they are not kept here.
    std::function<Result<>(const NodePatch &patch)> on_node_patch;

    // Where conditions and status of PodGroups go; likewise.
    std::function<Result<>(const GroupPatch &patch)> on_group_patch;

    // --- what a test wants to go wrong, or to know

    // By uid; what is not in there is gone.
    std::map<std::string, Workload> workloads;
    // The API server's feature gate DRAExtendedResource.
    bool keeps_extended = true;
    // A ResourceQuota: so many Pods may be there that are not over.
    std::optional<std::size_t> pod_quota;
    // A PodDisruptionBudget forbids every eviction.
    bool budget_exhausted = false;
    // What read_volumes() reads, whosever the claims are.
    VolumeFacts volumes;
    // The next call of this method (any more: one after the other) fails so,
    // and does nothing.
    void fail_next(const std::string &what, Code code,
                   std::chrono::seconds retry_after = {});
    // Every call of this method fails so until heal().
    void fail_always(const std::string &what, Code code);
    void heal(const std::string &what);
    // The next call of this method does its work and loses the answer.
    void lose_reply(const std::string &what);
    std::vector<Call> calls() const; // get_pod is not among them
    std::size_t count(const std::string &what) const
    {
        auto all = calls();
        return static_cast<std::size_t>(
            std::ranges::count(all, what, &Call::what));
    }
    std::vector<std::pair<ObjectKey, PodEvent>> events() const;

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
    enum class Mishap { none, refuse, lose };
    using Write = std::function<Result<>(Pod &there)>;

    // Records the call, lets it go wrong if it is to, and else writes.
    Result<> act(const Call &call, const Pod &pod, const Write &write);
    Result<> write_to(const Pod &pod, const Write &write);
    Result<> remove(const Call &call, const Pod &pod,
                    std::optional<std::chrono::seconds> grace = {},
                    bool as_read = false);
    Result<> check_quota() const;
    std::pair<Mishap, Error> next_mishap(const Call &call);
    void tell(const Pod &pod, bool deleted) const;
    // body with the part of the claim that the call must not change.
    Result<ClaimText> put_part(const char *what, const ObjectKey &key,
                               const std::string &body, bool status);
    void tell_claim(const ObjectKey &key) const;
    // Gives it a uid.
    Result<> create_named(const char *what,
                          std::map<ObjectKey, std::string> &all,
                          const ObjectKey &key, const std::string &body);
    Result<Json> get_named(const char *what,
                           const std::map<ObjectKey, std::string> &all,
                           const ObjectKey &key);

    mutable std::mutex mutex_;
    std::map<ObjectKey, Pod> pods_;
    std::map<ObjectKey, std::string> claims_;  // JSON
    std::map<ObjectKey, std::string> secrets_; // likewise
    std::map<std::string, std::deque<std::pair<Mishap, Error>>> mishaps_;
    std::map<std::string, Error> always_;
    std::vector<Call> calls_;
    std::vector<std::pair<ObjectKey, PodEvent>> events_;
    OnChange on_change_;
    long version_ = 0;
    long uids_ = 0;
    long claim_uids_ = 0;
};

} // namespace bridge
