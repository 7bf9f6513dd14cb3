// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/make.h"

#include "agent/batch/array.h"
#include "agent/batch/het.h"
#include "agent/batch/launcher.h"
#include "agent/batch/make_pods.h"
#include "agent/batch/output_name.h"
#include "agent/batch/srun.h"
#include "agent/batch/srun_map.h"
#include "agent/batch/user_groups.h"
#include "agent/objects/gang_key.h"
#include "common/base/log.h"
#include "common/contract/batch_names.h"
#include "common/contract/batch_options.h"
#include "common/slurm/het_job.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace bridge {

namespace {

// Checks the job's choices again, since k8s.conf may have changed since it was
// submitted.
Result<> check_choice(const BatchScript &script, const Conf &conf)
{
    if (!is_batch_namespace(conf, batch_namespace_of(script, conf)))
        return fail(Code::rejected, "jobs may no longer choose the namespace " +
                                        script.name_space);
    if (!script.service_account.empty() &&
        !std::ranges::contains(conf.batch_accounts, script.service_account))
        return fail(Code::rejected,
                    "jobs may no longer choose the ServiceAccount " +
                        script.service_account);
    for (const std::string &entry : script.variables)
        if (std::string reason = unfit_variable_reason(entry); !reason.empty())
            return fail(Code::rejected, "its --k8s-env must " + reason);
    return {};
}

std::unexpected<Error> by_slurm(Error error)
{
    if (error.code == Code::rejected || error.code == Code::denied)
        error.code = Code::busy;
    return std::unexpected(std::move(error));
}

// A job may be known before its script is written: script_dir.h. Code::gone
// until then, Code::rejected once the script must be lost.
Result<std::string> load_script(const BatchJob &batch,
                                const BatchContext &context)
{
    auto text = context.scripts.read(batch.job.tag.script);
    if (text || text.error().code != Code::not_found)
        return text;
    if (context.script_is_late)
        return fail(Code::rejected, "its script is no longer there");
    return fail(Code::gone, "slurmctld has not written its script yet");
}

// Reads what sbatch handed over, and checks that it belongs to this job.
Result<BatchScript> read_script(const BatchJob &batch,
                                const BatchContext &context)
{
    const Conf &conf = *context.conf;
    auto text = load_script(batch, context);
    if (!text)
        return std::unexpected(text.error());
    auto script = decode_batch_script(*text);
    if (!script)
        return std::unexpected(script.error());
    if (script->user_id != batch.user_id || script->group_id != batch.group_id)
        return fail(Code::rejected,
                    "its script was submitted by somebody else");
    if (batch.user_id == 0 || batch.group_id == 0)
        return fail(Code::rejected, "root's jobs do not run as Pods");
    if (std::string reason = unfit_image_reason(script->image); !reason.empty())
        return fail(Code::rejected, "its image must " + reason);
    if (auto may = check_choice(*script, conf); !may)
        return std::unexpected(may.error());
    return script;
}

std::string launcher_of(const BatchJob &batch,
                        const std::vector<BatchJob> &components,
                        const BatchScript &script, const BatchUser &user,
                        const std::string &cluster)
{
    const Job &job = batch.job;
    OutputFacts facts{
        job.ref,         batch.name,
        user.name,       job.nodes.empty() ? std::string() : job.nodes.front(),
        script.work_dir, batch.array};
    auto file = [&](const std::string &pattern) {
        return BatchOutput{expand_output(pattern, facts), true};
    };
    BatchOutput output = file(script.output);
    if (script.output.empty())
        output = {expand_output(batch.array ? names::batch_array_output
                                            : names::batch_output,
                                facts),
                  false};
    BatchOutput error = script.error.empty() ? output : file(script.error);
    for (BatchOutput *one : {&output, &error})
        if (one->path == "/dev/null") // kubectl logs shows the output anyway
            *one = {};
    std::vector<std::string> variables =
        batch_variables(components.front(), user, cluster);
    for (std::string &one : het_variables(components))
        variables.push_back(std::move(one));
    if (batch.array)
        for (std::string &one : array_variables(*batch.array, script.array))
            variables.push_back(std::move(one));
    return batch_launcher(script, variables, output, error,
                          expand_output(script.input, facts),
                          names::srun_mount);
}

// A refusal that lasts is reported to the job's user by srun. A refusal that
// passes must not cost a job its srun, so that jobs of several nodes wait to
// see whether it lasts. Jobs of one node may be very many, and rely on the last
// refusal.
Result<SrunOffer> srun_for(const std::string &ns, bool several, Kube &kube,
                           const BatchContext &context)
{
    SrunMaps &maps = context.srun_maps;
    if (auto reason = maps.refused(ns, context.srun.now); reason && !several)
        return SrunOffer{.reason = std::move(*reason)};
    auto offer = offer_srun(ns, several, kube, context.srun, maps);
    if (offer || !is_refusal(offer.error()) || !context.settled)
        return not_jobs_fault(std::move(offer));
    log_warning("the Pods of batch jobs get no srun",
                {{"Namespace", ns}, {"err", offer.error().message}});
    maps.refuse(ns, offer.error().message, context.srun.now);
    return SrunOffer{.reason = offer.error().message};
}

// Returns the same key for each call of a job array's task, because a kubelet
// may have read the key already.
Result<std::string> step_key(const BatchParts &parts)
{
    Result<std::string> key =
        parts.script.step_key.empty()
            ? new_step_key()
            : step_key_of(parts.script.step_key, batch_pod_name(parts.mark));
    if (key && key->empty())
        key = fail(Code::busy, "cannot make the key of the job's Pods");
    return key;
}

// Returns the script that replaces srun where there is none, and, for several
// nodes, the key of the job's Pods. Both are always written, because a kubelet
// waits for every key that a Pod names.
Result<StepSecret> step_secret(const BatchParts &parts,
                               const BatchContext &context)
{
    auto offer = srun_on(parts, 0, context);
    StepSecret step{.no_srun = no_srun_script(offer ? offer->reason : "")};
    if (parts.batch.job.nodes.size() < 2)
        return step;
    auto key = step_key(parts);
    if (!key)
        return std::unexpected(key.error());
    step.key = std::move(*key);
    return step;
}

// Makes the workers and the Pod of the script, and then its Secret. A Pod that
// was already bound had all of these, and the script's file may be gone; the
// key of its Pods must not change either.
Result<Pod> pod_with_secret(const BatchJob &batch, const BatchMark &mark,
                            Kube &kube, const BatchContext &context)
{
    const Conf &conf = *context.conf;
    auto script = read_script(batch, context);
    if (!script) {
        auto there = find_run_pod(mark, kube, context);
        if (there || there.error().code != Code::not_found)
            return there;
        return std::unexpected(script.error());
    }
    auto user = look_up_user(batch.user_id, batch.group_id);
    if (!user)
        return std::unexpected(user.error());
    auto components = load_components(batch, context.slurm);
    if (!components)
        return by_slurm(components.error());
    BatchParts parts{batch, *script, *user, mark, *components};
    bool several = batch.job.nodes.size() > 1;
    auto srun =
        srun_for(batch_namespace_of(*script, conf), several, kube, context);
    if (!srun)
        return std::unexpected(srun.error());
    parts.srun = std::move(*srun);
    auto pod = make_pod_on(parts, 0, {}, kube, context);
    if (!pod || has_run(*pod))
        return pod;
    if (several) {
        auto bound = make_others(parts, *pod, kube, context);
        if (!bound)
            return std::unexpected(bound.error());
        if (*bound)
            return pod;
    }
    auto step = step_secret(parts, context);
    if (!step)
        return std::unexpected(step.error());
    add_login(*script, *user);
    std::string launcher =
        launcher_of(batch, *components, *script, *user, context.cluster);
    if (auto put = not_jobs_fault(kube.put_secret(
            pod->key,
            batch_secret_body(*pod, launcher, script->script, *step)));
        !put)
        return std::unexpected(put.error());
    return pod;
}

// Tags all components. The leader is tagged last, because its tag makes the job
// a gang.
Result<> set_tags(const Job &job, Slurm &slurm)
{
    auto refs = refs_of(job);
    for (auto ref = refs.rbegin(); ref != refs.rend(); ref++)
        if (auto said = slurm.set_tag(*ref, job.tag); !said)
            return said;
    return {};
}

} // namespace

void TakenPod::set(Sent sent)
{
    std::lock_guard lock(mutex_);
    sent_ = std::move(sent);
}

std::optional<TakenPod::Sent> TakenPod::get() const
{
    std::lock_guard lock(mutex_);
    return sent_;
}

Result<Job> make_batch_pod(JobRef ref, Kube &kube, const BatchContext &context)
{
    auto batch = context.slurm.load_batch(ref);
    if (!batch)
        return by_slurm(batch.error());
    Job &job = batch->job;
    if (!is_whole(job) && !is_ended(job.state))
        return fail(Code::not_found, "Slurm has refused, or lost, other "
                                     "components of the heterogeneous job");
    if (!is_allocated(job.state) || job.nodes.empty() || !job.tag.uid.empty())
        return std::move(job);
    if (context.conf->batch_namespace.empty()) // no longer set
        return fail(Code::busy, "k8s.conf has no SbatchNamespace");
    if (context.scripts.path().empty())
        return fail(Code::busy, "slurm.conf's StateSaveLocation is not known");
    auto pod = pod_with_secret(*batch, {ref, job.tag.script, batch->array},
                               kube, context);
    if (!pod)
        return std::unexpected(pod.error());
    bool several = job.nodes.size() > 1 && pod->gang;
    job.tag.gang = pod->key.str();
    job.tag.uid = several ? pod->gang->uid : pod->uid;
    job.tag.first = several ? pod->uid : std::string();
    job.tag.generation = 0;
    job.tag.components = static_cast<std::uint32_t>(job.components.size());
    if (auto said = set_tags(job, context.slurm); !said)
        // the job has ended: seen by the next attempt
        return by_slurm(said.error());
    return std::move(job);
}

Result<Job> make_late_batch_pod(JobRef ref, Kube &kube,
                                const BatchContext &context)
{
    auto is_denied = [](const Result<Job> &now) {
        return !now && now.error().code == Code::denied;
    };
    auto now = make_batch_pod(ref, kube, context);
    auto taken = context.taken.get();
    bool gave_back = !now && now.error().retry_after.count() != 0;
    if (!is_denied(now) || gave_back || !taken || taken->conf != context.conf ||
        !kube.try_pod(taken->ns, taken->body))
        return now;
    now = make_batch_pod(ref, kube, context);
    if (is_denied(now))
        now.error().code = Code::rejected;
    return now;
}

Result<> clean_up_batch_pod(const Pod &pod, Kube &kube,
                            const ScriptDir &scripts)
{
    auto mark = batch_mark(pod);
    if (!mark || !scripts.may_exist(mark->script))
        return {};
    if (auto gone = kube.delete_secret(pod.key); !gone || mark->array)
        return gone; // others of the array may need the file: ScriptSweep
    return scripts.remove(mark->script);
}

Result<> ScriptSweep::sweep(const ScriptDir &scripts, const Named &named,
                            Clock::time_point now)
{
    std::lock_guard lock(mutex_);
    auto files = scripts.list();
    if (!files)
        return std::unexpected(files.error());
    std::map<std::string, Clock::time_point> unnamed;
    Result<> said;
    for (const std::string &file : *files) {
        if (named.living.contains(file))
            continue;
        auto known = unnamed_.find(file);
        auto since = known == unnamed_.end() ? now : known->second;
        bool over = named.ended.contains(file) ||
                    named.asked - since >= script_patience;
        unnamed[file] = since;
        if (!over)
            continue;
        if (auto removed = scripts.remove(file); !removed && said)
            said = removed; // continue with the other files
    }
    unnamed_ = std::move(unnamed);
    return said;
}

} // namespace bridge
