// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act_batch.h"

#include "agent/batch_launcher.h"
#include "agent/batch_pod.h"
#include "agent/output_name.h"
#include "agent/user_groups.h"
#include "common/batch_names.h"
#include "common/batch_options.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace bridge {

namespace {

// k8s.conf may have changed since the job was submitted.
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
        if (std::string why = objection_to_variable(entry); !why.empty())
            return fail(Code::rejected, "its --k8s-env must " + why);
    return {};
}

// What sbatch handed over, if it is this job's.
Result<BatchScript> read_script(const BatchJob &batch, const ScriptDir &scripts,
                                const Conf &conf)
{
    auto text = scripts.read(batch.job.tag.script);
    if (!text && text.error().code == Code::not_found)
        return fail(Code::rejected, "its script is no longer there");
    if (!text)
        return std::unexpected(text.error());
    auto script = decode_batch_script(*text);
    if (!script)
        return std::unexpected(script.error());
    if (script->user_id != batch.user_id || script->group_id != batch.group_id)
        return fail(Code::rejected, "its script was submitted by somebody else");
    if (batch.user_id == 0 || batch.group_id == 0)
        return fail(Code::rejected, "it is root's");
    if (std::string why = objection_to_image(script->image); !why.empty())
        return fail(Code::rejected, "its image must " + why);
    if (auto may = check_choice(*script, conf); !may)
        return std::unexpected(may.error());
    return script;
}

// What is said of the Namespace, of our rights there, or by libslurm, is for the
// administrator: no job fails of it.
template <class T> Result<T> not_jobs_fault(Result<T> answer)
{
    if (!answer && (answer.error().code == Code::not_found ||
                    answer.error().code == Code::rejected ||
                    answer.error().code == Code::denied))
        answer.error().code = Code::busy;
    return answer;
}

std::unexpected<Error> by_slurm(Error error)
{
    if (error.code == Code::rejected || error.code == Code::denied)
        error.code = Code::busy;
    return std::unexpected(std::move(error));
}

// The one that an earlier try has made, whose answer was lost, or for which a
// crash of slurmctld has lost the job's tag. Code::not_found: there is none.
Result<Pod> find_pod(const BatchMark &mark, const std::string &ns, Kube &kube)
{
    auto there = kube.get_pod({ns, batch_pod_name(mark)});
    if (!there && there.error().code == Code::denied)
        there.error().code = Code::busy; // we lack the right
    if (there && batch_mark(*there) != mark)
        return fail(Code::rejected,
                    "another Pod has the name " + there->key.str());
    if (there && there->deleting)
        return fail(Code::rejected, "somebody deletes its Pod");
    return there;
}

Result<Pod> make_pod(const std::string &body, const BatchMark &mark,
                     const std::string &ns, Kube &kube,
                     const BatchContext &context)
{
    auto made = kube.create_pod(ns, body);
    if (made)
        context.taken.set({context.conf, ns, body});
    if (!made && made.error().code == Code::rejected)
        made.error().code = Code::denied; // by the template's fault, maybe
    if (!made && made.error().code == Code::not_found)
        made.error().code = Code::busy; // there is no such Namespace
    if (made || made.error().code != Code::conflict)
        return made;
    auto there = find_pod(mark, ns, kube);
    if (!there && there.error().code == Code::not_found)
        there.error().code = Code::busy; // it has just gone: made anew
    return there;
}

bool has_run(const Pod &pod)
{
    return pod.bound() || pod.terminal();
}

// A job whose script is gone may have run: which namespace it chose is not known
// any more. Code::not_found: no such Pod has run.
Result<Pod> find_run_pod(const BatchMark &mark, const Conf &conf, Kube &kube)
{
    std::vector<std::string> all = conf.batch_namespaces;
    all.insert(all.begin(), conf.batch_namespace);
    for (const std::string &ns : all) {
        auto there = find_pod(mark, ns, kube);
        if (there ? has_run(*there) : there.error().code != Code::not_found)
            return there;
    }
    return fail(Code::not_found, "no Pod has run");
}

std::string launcher_of(const BatchJob &batch, const BatchScript &script,
                        const BatchUser &user, const std::string &cluster)
{
    const Job &job = batch.job;
    OutputFacts facts{job.ref, batch.name, user.name,
                      job.nodes.empty() ? std::string() : job.nodes.front(),
                      script.work_dir};
    auto file = [&](const std::string &pattern) {
        return BatchOutput{expand_output(pattern, facts), true};
    };
    BatchOutput output = file(script.output);
    if (script.output.empty())
        output = {expand_output(names::batch_output, facts), false};
    BatchOutput error = script.error.empty() ? output : file(script.error);
    for (BatchOutput *one : {&output, &error})
        if (one->path == "/dev/null") // kubectl logs has it all the same
            *one = {};
    return batch_launcher(script, batch_variables(batch, user, cluster), output,
                          error);
}

// With its Secret. One that was bound had that, and may have no file any more.
Result<Pod> pod_with_secret(const BatchJob &batch, const BatchMark &mark,
                            Kube &kube, const BatchContext &context)
{
    const Conf &conf = *context.conf;
    auto script = read_script(batch, context.scripts, conf);
    if (!script) {
        auto there = find_run_pod(mark, conf, kube);
        if (there || there.error().code != Code::not_found)
            return there;
        return std::unexpected(script.error());
    }
    auto user = look_up_user(batch.user_id, batch.group_id);
    if (!user)
        return std::unexpected(user.error());
    auto body = batch_pod_body(batch, *script, *user, mark, conf);
    if (!body)
        return std::unexpected(body.error());
    auto pod = make_pod(*body, mark, batch_namespace_of(*script, conf), kube,
                        context);
    if (!pod || has_run(*pod))
        return pod;
    add_login(*script, *user);
    std::string launcher =
        launcher_of(batch, *script, *user, context.cluster);
    if (auto put = not_jobs_fault(kube.put_secret(
            pod->key, batch_secret_body(*pod, launcher, script->script)));
        !put)
        return std::unexpected(put.error());
    return pod;
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
    if (!is_allocated(job.state) || !job.tag.uid.empty())
        return std::move(job);
    if (context.conf->batch_namespace.empty()) // any more
        return fail(Code::busy, "k8s.conf has no SbatchNamespace");
    if (context.scripts.path().empty())
        return fail(Code::busy, "slurm.conf's StateSaveLocation is not known");
    auto pod = pod_with_secret(*batch, {ref, job.tag.script}, kube, context);
    if (!pod)
        return std::unexpected(pod.error());
    job.tag.gang = pod->key.str();
    job.tag.uid = pod->uid;
    job.tag.generation = 0;
    if (auto said = context.slurm.set_tag(ref, job.tag); !said)
        return by_slurm(said.error()); // it has ended: seen next time
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
    if (!is_denied(now) || !taken || taken->conf != context.conf ||
        !kube.try_pod(taken->ns, taken->body))
        return now;
    now = make_batch_pod(ref, kube, context);
    if (is_denied(now))
        now.error().code = Code::rejected;
    return now;
}

Result<> tidy_batch_pod(const Pod &pod, Kube &kube, const ScriptDir &scripts)
{
    auto mark = batch_mark(pod);
    if (!mark || !scripts.may_exist(mark->script))
        return {};
    if (auto gone = kube.delete_secret(pod.key); !gone)
        return gone;
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
            said = removed; // and go on with the others
    }
    unnamed_ = std::move(unnamed);
    return said;
}

} // namespace bridge
