// SPDX-License-Identifier: GPL-2.0-or-later
// A Kube whose writes pass the write gate; reads are forwarded directly. Each
// new method of Kube that writes needs a name in write_gate.h.
#pragma once

#include "agent/calls/kube_api.h"
#include "agent/calls/write_gate.h"

#include <memory>
#include <utility>

namespace bridge {

class GuardedKube : public Kube {
  public:
    GuardedKube(std::unique_ptr<Kube> kube, const WriteGate &gate)
        : kube_(std::move(kube)), gate_(gate)
    {
    }

    Result<> bind(const Pod &pod, const Binding &binding) override
    {
        return gate_.pass(Write::bind,
                          [&] { return kube_->bind(pod, binding); });
    }
    Result<> set_unscheduled(const Pod &pod, const std::string &reason,
                             const std::string &message) override
    {
        return gate_.pass(Write::set_unscheduled, [&] {
            return kube_->set_unscheduled(pod, reason, message);
        });
    }
    Result<> fail_pod(const Pod &pod, const std::string &reason,
                      const std::string &message) override
    {
        return gate_.pass(Write::fail_pod, [&] {
            return kube_->fail_pod(pod, reason, message);
        });
    }
    Result<> stamp(const Pod &pod, const TextMap &labels,
                   const TextMap &annotations) override
    {
        return gate_.pass(Write::stamp, [&] {
            return kube_->stamp(pod, labels, annotations);
        });
    }
    Result<> expire_pod(const Pod &pod) override
    {
        return gate_.pass(Write::expire_pod,
                          [&] { return kube_->expire_pod(pod); });
    }
    Result<> set_disrupted(const Pod &pod, const std::string &reason,
                           const std::string &message) override
    {
        return gate_.pass(Write::set_disrupted, [&] {
            return kube_->set_disrupted(pod, reason, message);
        });
    }
    Result<> evict_pod(const Pod &pod, std::chrono::seconds grace) override
    {
        return gate_.pass(Write::evict_pod,
                          [&] { return kube_->evict_pod(pod, grace); });
    }
    Result<> delete_pod(const Pod &pod) override
    {
        return gate_.pass(Write::delete_pod,
                          [&] { return kube_->delete_pod(pod); });
    }
    Result<> delete_within(const Pod &pod, std::chrono::seconds grace) override
    {
        return gate_.pass(Write::delete_pod,
                          [&] { return kube_->delete_within(pod, grace); });
    }
    Result<> delete_unbound(const Pod &pod) override
    {
        return gate_.pass(Write::delete_pod,
                          [&] { return kube_->delete_unbound(pod); });
    }
    Result<Pod> create_pod(const std::string &ns,
                           const std::string &body) override
    {
        return gate_.pass(Write::create_pod,
                          [&] { return kube_->create_pod(ns, body); });
    }
    Result<> try_pod(const std::string &ns, const std::string &body) override
    {
        return kube_->try_pod(ns, body);
    }
    Result<> put_secret(const ObjectKey &key, const std::string &body) override
    {
        return gate_.pass(Write::put_secret,
                          [&] { return kube_->put_secret(key, body); });
    }
    Result<> delete_secret(const ObjectKey &key) override
    {
        return gate_.pass(Write::delete_secret,
                          [&] { return kube_->delete_secret(key); });
    }
    Result<> create_service(const ObjectKey &key,
                            const std::string &body) override
    {
        return gate_.pass(Write::create_service,
                          [&] { return kube_->create_service(key, body); });
    }
    Result<> create_config_map(const ObjectKey &key,
                               const std::string &body) override
    {
        return gate_.pass(Write::create_config_map,
                          [&] { return kube_->create_config_map(key, body); });
    }
    Result<Json> get_service(const ObjectKey &key) override
    {
        return kube_->get_service(key);
    }
    Result<Json> get_config_map(const ObjectKey &key) override
    {
        return kube_->get_config_map(key);
    }
    Result<std::string> get_config_map_uid(const ObjectKey &key) override
    {
        return kube_->get_config_map_uid(key);
    }
    Result<TextMap> addresses_of(const std::string &ns,
                                 const std::string &label,
                                 const std::string &value) override
    {
        return kube_->addresses_of(ns, label, value);
    }
    Result<> patch_node(const NodePatch &patch) override
    {
        return gate_.pass(Write::patch_node,
                          [&] { return kube_->patch_node(patch); });
    }
    Result<> patch_group(const GroupPatch &patch) override
    {
        return gate_.pass(Write::patch_group,
                          [&] { return kube_->patch_group(patch); });
    }
    Result<> post_node_event(const Node &node, const PodEvent &event) override
    {
        return gate_.pass(Write::post_event,
                          [&] { return kube_->post_node_event(node, event); });
    }
    Result<> post_event(const Pod &pod, const PodEvent &event) override
    {
        return gate_.pass(Write::post_event,
                          [&] { return kube_->post_event(pod, event); });
    }

    Result<> select_node(const Claim &claim, const std::string &node) override
    {
        return gate_.pass(Write::select_node,
                          [&] { return kube_->select_node(claim, node); });
    }
    Result<> give_volume(const Volume &volume, const Claim &claim) override
    {
        return gate_.pass(Write::give_volume,
                          [&] { return kube_->give_volume(volume, claim); });
    }

    Result<ClaimText> write_claim(const ObjectKey &key,
                                  const std::string &body) override
    {
        return gate_.pass(Write::write_claim,
                          [&] { return kube_->write_claim(key, body); });
    }
    Result<ClaimText> write_claim_status(const ObjectKey &key,
                                         const std::string &body) override
    {
        return gate_.pass(Write::write_claim_status,
                          [&] { return kube_->write_claim_status(key, body); });
    }

    Result<ClaimText> create_claim(const std::string &ns,
                                   const std::string &body) override
    {
        return gate_.pass(Write::create_claim,
                          [&] { return kube_->create_claim(ns, body); });
    }
    Result<> delete_claim(const ObjectKey &key, const std::string &uid) override
    {
        return gate_.pass(Write::delete_claim,
                          [&] { return kube_->delete_claim(key, uid); });
    }
    Result<bool> set_extended_claim(const Pod &pod,
                                    const ExtendedClaimStatus &status) override
    {
        return gate_.pass(Write::set_extended_claim, [&] {
            return kube_->set_extended_claim(pod, status);
        });
    }

    Result<ClaimText> read_claim(const ObjectKey &key) override
    {
        return kube_->read_claim(key);
    }
    Result<VolumeFacts> read_volumes(const Pod &pod) override
    {
        return kube_->read_volumes(pod);
    }
    Result<Pod> get_pod(const ObjectKey &key) override
    {
        return kube_->get_pod(key);
    }
    Result<std::vector<Pod>> list_pods(const std::string &ns) override
    {
        return kube_->list_pods(ns);
    }
    Result<Workload> get_owner(const std::string &ns,
                               const OwnerRef &owner) override
    {
        return kube_->get_owner(ns, owner);
    }

  private:
    std::unique_ptr<Kube> kube_;
    const WriteGate &gate_;
};

} // namespace bridge
