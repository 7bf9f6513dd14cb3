// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/make_pods.h"

#include "agent/batch/het.h"
#include "agent/batch/srun.h"
#include "agent/batch/srun_map.h"
#include "common/base/log.h"

#include <chrono>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace bridge {

namespace {

constexpr int shortest_pause = 30; // seconds
constexpr char lost_jobs_pod[] =
    "its Pod was made for a job that Slurm has lost";

bool is_quota(const Error &error)
{
    return error.code == Code::denied &&
           error.message.contains("exceeded quota");
}

// The Pod that is looked for.
struct Wanted {
    const BatchMark &mark;
    ObjectKey key;
    BatchPlace place{};
    std::string srun{};    // made with this ConfigMap
    bool wherever = false; // for whatever node it was made

    // All Pods of a job of several nodes must have been made for the same job,
    // because they are told its id.
    bool is_as(const Pod &pod) const
    {
        return wherever ||
               (is_made_for(pod, place) &&
                (place.count == 1 || batch_mark(pod) == mark) &&
                pod.annotation(names::batch_srun_annotation) == srun);
    }
    // It runs, but belongs to a Pod of the script that is gone, or runs where
    // the job is not.
    bool is_stray(const Pod &pod) const
    {
        return has_run(pod) && place.rank != 0 && !is_made_for(pod, place);
    }
};

// Deletes the workers that were made for that Pod of the script. That Pod knows
// how many there are; the job may have fewer nodes now. Code::conflict when one
// has run that may stay.
Result<> delete_workers_of(const Pod &first, const BatchMark &mark, Kube &kube,
                           bool those_that_ran)
{
    auto place = batch_place(first);
    for (std::uint32_t rank = place ? place->count : 1; --rank != 0;) {
        BatchPlace worker{rank, place->count, {}};
        auto there = kube.get_pod({first.key.ns, batch_pod_name(mark, worker)});
        if (!there && there.error().code == Code::not_found)
            continue;
        if (!there)
            return std::unexpected(there.error());
        auto of = batch_place(*there);
        if (!of || of->first != first.uid)
            continue;
        auto gone = those_that_ran && has_run(*there)
                        ? kube.delete_pod(*there)
                        : kube.delete_unbound(*there);
        if (!gone)
            return gone;
    }
    return {};
}

// Deletes a Pod that was made for other nodes of the job, or with another srun.
// If somebody is binding it, based on what was known before, it stays, and so
// do its workers. If it was deleted, the workers that it owned are strays.
Result<> give_way(const Pod &pod, const Wanted &wanted, Kube &kube)
{
    if (wanted.is_stray(pod))
        return kube.delete_pod(pod);
    auto gone = kube.delete_unbound(pod);
    if (!gone || is_worker(pod))
        return gone;
    return delete_workers_of(pod, wanted.mark, kube, true);
}

// Returns a random time, so that not all jobs try again together.
std::chrono::seconds pause_without_pods()
{
    static thread_local std::mt19937 numbers{std::random_device{}()};
    return std::chrono::seconds(std::uniform_int_distribution<>(
        shortest_pause, 2 * shortest_pause)(numbers));
}

// Deletes the Pods of a job of several nodes that has only some of them.
// Otherwise several such jobs could block each other, each waiting until
// another one gives up its Pods.
Error give_back(const BatchParts &parts, const Pod &first, Error full,
                Kube &kube)
{
    auto there = kube.get_pod(first.key);
    if (!there || there->uid != first.uid)
        return full;
    Result<> gone = delete_workers_of(first, parts.mark, kube, false);
    if (gone)
        gone = kube.delete_unbound(*there);
    if (!gone)
        return not_jobs_fault(gone).error();
    full.retry_after = pause_without_pods();
    return full;
}

// The Pod was made for an earlier job of the same task, which a crash of
// slurmctld has lost. A Pod is bound at most once: one that has run does not
// run again, and one that waits belongs to this job once nobody can be binding
// it for the earlier job.
Result<Pod> of_earlier_job(Pod pod, const BatchContext &context)
{
    if (!has_run(pod) && !context.settled)
        return fail(Code::busy, lost_jobs_pod);
    return pod;
}

// Returns whether a Pod that is being deleted is made again once it is gone: it
// runs no script, and the agent itself may have deleted it, because Slurm
// placed the job again or to give the Pod back, while a finalizer still holds
// it.
bool is_made_again(const Pod &pod)
{
    return !has_run(pod) || is_worker(pod);
}

// Finds the Pod that an earlier attempt made whose answer was lost, or whose
// job lost its tag in a crash of slurmctld. Code::not_found: there is none.
Result<Pod> find_pod(const Wanted &wanted, Kube &kube,
                     const BatchContext &context)
{
    auto there = kube.get_pod(wanted.key);
    if (!there && there.error().code == Code::denied)
        there.error().code = Code::busy; // the agent lacks the right
    if (!there)
        return there;
    auto known = batch_mark(*there);
    bool earlier =
        known && known != wanted.mark && is_same_task(*known, wanted.mark);
    if (!earlier && known != wanted.mark)
        return fail(Code::rejected,
                    "another Pod has the name " + there->key.str());
    bool unfit =
        has_run(*there) ? wanted.is_stray(*there) : !wanted.is_as(*there);
    if (earlier && unfit && !context.settled)
        return fail(Code::busy, lost_jobs_pod);
    if (unfit) {
        if (auto gone = give_way(*there, wanted, kube); !gone)
            return not_jobs_fault(Result<Pod>(std::unexpected(gone.error())));
        return fail(Code::busy, "its Pod was made for another node or job, or "
                                "with another srun");
    }
    if (there->deleting && is_made_again(*there))
        return fail(Code::busy, "its Pod " + there->key.name +
                                    " is being deleted, and is still there");
    if (there->deleting)
        return fail(Code::rejected, "somebody is deleting its Pod");
    return earlier ? of_earlier_job(std::move(*there), context) : there;
}

Result<Pod> make_pod(const std::string &body, const Wanted &wanted, Kube &kube,
                     const BatchContext &context)
{
    auto made = kube.create_pod(wanted.key.ns, body);
    if (made)
        context.taken.set({context.conf, wanted.key.ns, body});
    if (!made && made.error().code == Code::rejected)
        made.error().code = Code::denied; // maybe because of the template
    if (!made && made.error().code == Code::not_found)
        made.error().code = Code::busy; // there is no such Namespace
    // The API server reports a full quota before it checks the name.
    bool full = !made && is_quota(made.error());
    if (made || (made.error().code != Code::conflict && !full))
        return made;
    auto there = find_pod(wanted, kube, context);
    bool gone = !there && there.error().code == Code::not_found;
    if (gone && full)
        return made;
    if (gone)
        // it has just been deleted: it is recreated
        there.error().code = Code::busy;
    return there;
}

// Makes the Service by which the names of the job's nodes resolve. The job runs
// without it, too.
Result<> make_service(const BatchParts &parts, const Pod &first,
                      const Pod &worker, Kube &kube,
                      const BatchContext &context)
{
    if (!context.srun.may)
        return {}; // the missing rights are reported elsewhere
    auto made = make_batch_service(first, worker, kube, context.settled);
    if (!made && made.error().code == Code::conflict)
        made.error().code = context.give_back ? Code::rejected : Code::busy;
    if (made || !is_refusal(made.error()) || !context.settled)
        return not_jobs_fault(made); // a refusal may pass
    log_warning(
        "the node names of a batch job do not resolve in its Pods",
        {{"JobId", parts.batch.job.ref.id}, {"err", made.error().message}});
    return {};
}

} // namespace

bool has_run(const Pod &pod)
{
    return pod.bound() || pod.terminal();
}

Result<SrunOffer> srun_on(const BatchParts &parts, std::uint32_t rank,
                          const BatchContext &context)
{
    const auto &nodes = parts.batch.job.nodes;
    std::string node = rank < nodes.size() ? nodes[rank] : std::string();
    bool no_label_comes = nodes.size() < 2 && is_listed(node, context.srun);
    return offer_on(parts.srun, node, context.srun,
                    context.settled || no_label_comes);
}

Result<Pod> make_pod_on(const BatchParts &parts, std::uint32_t rank,
                        const std::string &first, Kube &kube,
                        const BatchContext &context)
{
    const Conf &conf = *context.conf;
    auto place = place_on(parts.batch, rank, first);
    auto srun = srun_on(parts, rank, context);
    if (!srun)
        return std::unexpected(srun.error());
    auto body =
        batch_pod_body(on_node_of(parts.components, rank), parts.script,
                       parts.user, parts.mark, conf, place, srun->config_map);
    if (!body)
        return std::unexpected(body.error());
    ObjectKey key{batch_namespace_of(parts.script, conf),
                  batch_pod_name(parts.mark, place)};
    return make_pod(
        with_grace_up_to(context.allowed_grace, std::move(*body)),
        {parts.mark, std::move(key), std::move(place), srun->config_map}, kube,
        context);
}

Result<bool> make_others(const BatchParts &parts, const Pod &first, Kube &kube,
                         const BatchContext &context)
{
    std::optional<Pod> second;
    for (std::uint32_t rank = 1; rank < parts.batch.job.nodes.size(); rank++) {
        auto worker = make_pod_on(parts, rank, first.uid, kube, context);
        if (!worker && context.give_back && is_quota(worker.error()))
            return std::unexpected(
                give_back(parts, first, worker.error(), kube));
        if (!worker)
            return std::unexpected(worker.error());
        auto place = batch_place(*worker);
        if (worker->bound() && place && place->first == first.uid)
            return true;
        if (rank == 1)
            second = std::move(*worker);
    }
    if (!second)
        return false;
    if (auto made = make_service(parts, first, *second, kube, context); !made)
        return std::unexpected(made.error());
    return false;
}

Result<Pod> find_run_pod(const BatchMark &mark, Kube &kube,
                         const BatchContext &context)
{
    std::vector<std::string> all = context.conf->batch_namespaces;
    all.insert(all.begin(), context.conf->batch_namespace);
    for (const std::string &ns : all) {
        auto there = find_pod(
            {.mark = mark, .key = {ns, batch_pod_name(mark)}, .wherever = true},
            kube, context);
        if (there ? has_run(*there) : there.error().code != Code::not_found)
            return there;
    }
    return fail(Code::not_found, "no Pod has run");
}

} // namespace bridge
