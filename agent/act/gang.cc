// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act/gang.h"

#include "agent/act/bind.h"
#include "agent/act/claims.h"
#include "agent/decide/translate.h"
#include "agent/gang/facts.h"
#include "agent/objects/gang_key.h"
#include "common/slurm/het_job.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace bridge {

namespace {

bool concerns_all(const Error &error)
{
    return error.code == Code::busy || error.code == Code::uncertain;
}

// Returns the first error.
template <class Step>
Result<> for_each_seat(const Gang &gang, const Bind &bind, const Step &step)
{
    Result<> said;
    const PodsByUid pods = pods_by_uid(gang);
    for (const Seat &seat : bind.seats) {
        PodPtr pod = find_pod(pods, seat.pod);
        if (!pod)
            continue;
        Result<> done = step(*pod, seat);
        if (said && !done)
            said = done;
        if (!done && concerns_all(done.error()))
            break;
    }
    return said;
}

std::vector<ClaimPlan> claims_of(const Pod &pod, const Bind &bind)
{
    std::vector<ClaimPlan> claims;
    std::ranges::copy_if(
        bind.claims, std::back_inserter(claims),
        [&](const ClaimPlan &claim) { return claim.pod == pod.uid; });
    return claims;
}

} // namespace

Result<> check_placed(const Gang &gang, const ActContext &context)
{
    if (gang.batch && context.slurmctld_left())
        return fail(Code::busy,
                    "slurmctld went away: the job will be read again");
    return {};
}

Result<Outcome> reserve_seats(const Gang &gang, const Bind &bind, Kube &kube)
{
    std::optional<ClaimsRefused> refused; // the first rejection
    auto said = for_each_seat(
        gang, bind, [&](const Pod &pod, const Seat &seat) -> Result<> {
            // After that the API server would store no other claim either.
            if (refused && refused->no_extended)
                return {};
            auto ready =
                prepare_claims(pod, claims_of(pod, bind), seat.node, kube);
            if (!ready)
                return std::unexpected(ready.error());
            auto *no = std::get_if<ClaimsRefused>(&*ready);
            if (!no)
                return {};
            if (!refused)
                refused = *no;
            return fail(Code::rejected, no->reason);
        });
    if (said)
        return Done{};
    if (said.error().code == Code::rejected && refused)
        return *refused;
    return std::unexpected(said.error());
}

Result<> bind_seats(const Gang &gang, const Bind &bind, Kube &kube)
{
    return for_each_seat(
        gang, bind, [&](const Pod &pod, const Seat &seat) -> Result<> {
            auto ready =
                prepare_claims(pod, claims_of(pod, bind), seat.node, kube);
            if (!ready)
                return std::unexpected(ready.error());
            if (auto *no = std::get_if<ClaimsRefused>(&*ready))
                return fail(Code::rejected, no->reason);
            const Job &component = component_on(*gang.job, seat.slurm_node);
            return bind_pod(pod,
                            {seat.node, binding_labels(component),
                             binding_annotations(*gang.job, seat)},
                            kube);
        });
}

Result<std::optional<Pod>> find_member(const Gang &gang, Kube &kube)
{
    auto pods = kube.list_pods(gang.key.ns);
    if (!pods)
        return std::unexpected(pods.error());
    auto is_known = [&](const Pod &pod) {
        return std::ranges::any_of(gang.pods, [&](const PodPtr &known) {
            return known->uid == pod.uid;
        });
    };
    // The first Pod of a batch job counts also when it is over, and belongs to
    // an earlier job while it runs by that.
    bool batch = !gang.job->tag.script.empty();
    auto is_first = [&](const Pod &pod) {
        bool counts =
            batch ? pod.terminal() || !binder_of(pod) : !pod.terminal();
        return counts && pod.uid == gang.job->tag.first;
    };
    auto member = std::ranges::find_if(*pods, [&](const Pod &pod) {
        bool lives_by_it = !pod.terminal() && bound_by(pod, *gang.job);
        return names_gang(pod, gang.uid) && !is_known(pod) &&
               (lives_by_it || is_first(pod));
    });
    if (member == pods->end())
        return std::nullopt;
    return std::move(*member);
}

} // namespace bridge
