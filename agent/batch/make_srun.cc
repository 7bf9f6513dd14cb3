// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/make_srun.h"

#include "agent/batch/srun.h"
#include "agent/batch/srun_map.h"
#include "common/base/log.h"

#include <utility>

namespace bridge {

namespace {

constexpr char no_rights[] =
    "slurmk8sd lacks rights to ConfigMaps and Services: see "
    "contribs/kubernetes/components/sbatch";

} // namespace

// Somebody may have deleted the ConfigMap, which stops all Pods to come, or
// recreated it with another content. So it is checked for each job of several
// nodes, and from time to time for other jobs, of which there may be very many.
// For a Pod that waits for it nevertheless it is created again by
// restore_srun_map().
Result<SrunOffer> offer_srun(const std::string &ns, bool several, Kube &kube,
                             const SrunContext &context, SrunMaps &maps)
{
    auto program = maps.program(context.path);
    if (!program && program.error().code == Code::busy)
        return std::unexpected(program.error());
    if (!program)
        return SrunOffer{.reason = program.error().message};
    if (!context.may)
        return SrunOffer{.reason = no_rights};
    std::string name = (*program)->map;
    auto seen = maps.seen(ns);
    auto made = restore_srun_map_if_gone(ns, **program, kube, maps,
                                         {context.now, !several});
    if (!made) {
        Error error = made.error();
        if (error.code == Code::not_found || error.code == Code::conflict)
            error.code = Code::busy; // no such Namespace; just deleted
        return std::unexpected(std::move(error));
    }
    if (*made && seen && seen->name == name)
        log_warning(
            "somebody has deleted the ConfigMap with srun: it is recreated",
            {{"ConfigMap", ObjectKey{ns, name}.str()}});
    return SrunOffer{.config_map = std::move(name)};
}

bool is_listed(const std::string &node, const SrunContext &context)
{
    return context.architectures && context.architectures->contains(node);
}

Result<SrunOffer> offer_on(const SrunOffer &offer, const std::string &node,
                           const SrunContext &context, bool settled)
{
    if (offer.config_map.empty())
        return offer;
    std::string there;
    if (context.architectures)
        if (auto known = context.architectures->find(node);
            known != context.architectures->end())
            there = known->second;
    if (!there.empty() && there == srun_architecture())
        return offer;
    if (there.empty() && !settled)
        return fail(Code::busy,
                    "the architecture of " + node + " is not known yet");
    return SrunOffer{
        .reason = "srun is for " + std::string(srun_architecture()) + ", and " +
                  node + " is " + (there.empty() ? "not known" : there)};
}

Result<> make_batch_service(const Pod &first, const Pod &worker, Kube &kube,
                            bool settled)
{
    auto made =
        kube.create_service(first.key, batch_service_body(first, worker));
    if (made || made.error().code != Code::conflict)
        return made;
    auto there = kube.get_service(first.key);
    // Services made by earlier agents are owned by the script's Pod.
    if (there &&
        (is_service_of(*there, worker) || is_service_of(*there, first)))
        return {};
    if (!there && there.error().code != Code::not_found)
        return std::unexpected(there.error());
    if (!there || was_service_of(*there, worker))
        return fail(Code::conflict, "the Service " + first.key.str() +
                                        " of an earlier Pod is still there");
    return fail(settled ? Code::rejected : Code::busy,
                "another Service has the name " + first.key.str());
}

} // namespace bridge
