// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act/extended.h"

#include "agent/act/claims.h"
#include "agent/gres/extended_claim.h"

#include <algorithm>
#include <utility>

namespace bridge {

Result<ClaimPlan> with_claim_made(const ClaimPlan &plan, const Pod &pod,
                                  Kube &kube)
{
    ClaimPlan made = plan;
    if (plan.body.empty())
        return made;
    auto claim = kube.create_claim(plan.key.ns, plan.body);
    bool there = !claim && (claim.error().code == Code::conflict ||
                            claim.error().code == Code::uncertain);
    if (there)
        claim = kube.read_claim(plan.key);
    if (!claim) {
        Error error = claim.error();
        if (there) // it does not exist or cannot be read
            error.code = Code::busy;
        return fail(error, "create ResourceClaim=" + plan.key.str());
    }
    if (!is_extended_claim(claim->claim, pod))
        return fail(Code::rejected,
                    "the ResourceClaim " + plan.key.name +
                        " belongs to something else, but has the name that "
                        "the claim for its extended resources needs");
    if (!asks_as(claim->claim, plan.body))
        return fail(Code::rejected,
                    "the ResourceClaim " + plan.key.name +
                        " does not match its extended resources");
    made.uid = claim->claim.uid;
    made.text = std::move(claim->text);
    return made;
}

Result<bool> write_extended_status(const Pod &pod,
                                   const std::vector<ClaimPlan> &claims,
                                   Kube &kube)
{
    auto plan = std::ranges::find_if(
        claims, [](const ClaimPlan &one) { return !one.mappings.empty(); });
    if (plan == claims.end())
        return true;
    auto kept = kube.set_extended_claim(pod, {plan->key.name, plan->mappings});
    // It may be written again, whatever the outcome was.
    if (!kept && kept.error().code == Code::uncertain)
        return fail(Code::busy, kept.error().message);
    return kept;
}

Result<> remove_extended(const Pod &pod, Kube &kube)
{
    if (pod.extended.empty())
        return {};
    if (auto unbound = check_unbound(pod, kube); !unbound)
        return unbound;
    ObjectKey key = extended_claim_key(pod);
    auto there = kube.read_claim(key);
    if (!there && (there.error().code == Code::not_found ||
                   there.error().code == Code::denied))
        return {};
    if (!there)
        return std::unexpected(there.error());
    bool others_have_it =
        there->claim.deleting && !there->claim.is_reserved_for(pod.uid);
    if (!is_extended_claim(there->claim, pod) || others_have_it)
        return {};
    return release_claims(pod, {{key, there->claim.uid, pod.uid, true}}, kube);
}

} // namespace bridge
